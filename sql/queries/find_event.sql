-- The event at a position, if the log reaches that far and the event is about one of the project's
-- customers.
-- $1 shard, $2 sequence, $3 project, $4 environments
select e.customer, e.environment, e.version, substring(e.chain from 1 for 4)
from {schema}.events as e
where e.shard = $1::smallint and e.seq = $2::bigint and e.project = $3::text
    and e.environment = any ($4::text[]) and not starts_with(e.customer, '$project/')
    and e.seq <= (
        select s.head from {schema}.shards as s where s.shard = $1::smallint
        order by s.head desc limit 1
    )
