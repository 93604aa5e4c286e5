-- Erasures in a project. The condition for whose they are is filled in, and may add a parameter.
-- $1 project; continue after $2 recorded_at, $3 shard, $4 seq; $5 limit
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format
from {schema}.events as e
where e.type = 'customer.erased' and e.project = $1::text
    and {whose}
    and (e.recorded_at, e.shard, e.seq) > ($2::bigint, $3::smallint, $4::bigint)
    and e.seq between 1 and (
        select s.head from {schema}.shards as s where s.shard = e.shard order by s.head desc limit 1
    )
order by e.recorded_at, e.shard, e.seq
limit $5::bigint
