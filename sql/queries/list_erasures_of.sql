-- Works like list_erasures, but for one customer.
-- $1 project, $2 customer; continue after $3 recorded_at, $4 shard, $5 seq; $6 limit
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format
from {schema}.events as e
where e.type = 'customer.erased' and e.project = $1::text
    and e.customer = $2::text
    and (e.recorded_at, e.shard, e.seq) > ($3::bigint, $4::smallint, $5::bigint)
    and e.seq between 1 and (
        select s.head from {schema}.shards as s where s.shard = e.shard order by s.head desc limit 1
    )
order by e.recorded_at, e.shard, e.seq
limit $6::bigint
