-- $1 shard, $2 project, $3 environment, $4 customer, $5 version after which to start, $6 limit
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format
from {schema}.events as e
where e.project = $2::text and e.environment = $3::text
    and e.customer = $4::text and e.version > $5::bigint
    -- A stream's versions have no gaps. Without an upper bound, the planner would sort a long stream as a
    -- whole to find one page.
    and e.version <= least($5::bigint::numeric + $6::bigint, 9223372036854775807)::bigint
    -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
    and e.shard + 0 = $1::smallint
    and e.seq between 1 and (
        select s.head from {schema}.shards as s where s.shard = $1::smallint
        order by s.head desc limit 1
    )
order by e.version
limit $6::bigint
