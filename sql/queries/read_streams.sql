-- Works like load_streams, but also returns the end of each stream's shard from the same snapshot. The chain at that
-- end comes with the stream's first row. An unknown stream starts with its kept state, if this log has one.
-- $1 shards, $2 projects, $3 environments, $4 customers, $5 known versions, $6 known heads of the shards, $7 number of
-- the kept states' format, or null
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format, wanted.shard, s.head, case when opening.is_first then s.chain end,
    wanted.place, case when opening.is_first then k.version end,
    case when opening.is_first then k.content end, case when opening.is_first then k.digest end
from (
    select unnest($1::smallint[]) as shard, unnest($2::text[]) as project,
        unnest($3::text[]) as environment, unnest($4::text[]) as customer,
        unnest($5::bigint[]) as version, unnest($6::bigint[]) as seen,
        generate_subscripts($1::smallint[], 1)::bigint as place
) as wanted
-- Looks up each row individually, as in load_holders.
left join lateral (
    select s.head, s.chain from {schema}.shards as s
    -- Starts at the known head, as in lock_shards.
    where s.shard = wanted.shard and s.head >= wanted.seen
    order by s.head desc limit 1
) as s on true
left join lateral (
    select k.version, k.seq, k.chain, k.content, k.digest from {schema}.kept_states as k
    where wanted.version = 0 and k.number = $7::smallint and k.shard = wanted.shard
        and k.customer = wanted.customer and k.project = wanted.project
        and k.environment = wanted.environment
    limit 1
) as kept on true
left join lateral (
    select kept.version, kept.content, kept.digest from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer and e.version between kept.version and kept.version
        and e.shard + 0 = wanted.shard and e.seq + 0 = kept.seq and e.chain = kept.chain
        and e.seq + 0 <= s.head
    -- The order has an effect only because the condition is a range, as in load_streams.
    order by e.version limit 1
) as k on true
-- A stream without new events gets a row without an event.
left join lateral (
    select * from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer and e.version > coalesce(k.version, wanted.version)
        -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
        and e.shard + 0 = wanted.shard and e.seq between 1 and s.head
    order by e.version
) as e on true
cross join lateral (
    select e.version is null or e.version = coalesce(k.version, wanted.version) + 1 as is_first
) as opening
