-- Customers with events in the log but no row in the projections.
-- $1 shard, $2 project or null for all, $3 limit
select e.project, e.environment, e.customer
from {schema}.events as e
where e.shard = $1::smallint and ($2::text is null or e.project = $2::text) and e.version = 1
    and e.customer <> '$project/'
    and e.seq between 1 and (
        select s.head from {schema}.shards as s where s.shard = $1::smallint
        order by s.head desc limit 1
    )
    and not exists (
        select from {schema}.customers as c
        where c.shard = e.shard and c.customer = e.customer and c.project = e.project
            and c.environment = e.environment
    )
limit $3::bigint
