-- For a late stream, returns only a single later event.
-- $1 shards, $2 projects, $3 environments, $4 customers, $5 known versions, $6 known heads of the shards, $7 number of
-- new events from which a stream is late, or null
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format
from (
    select unnest($1::smallint[]) as shard, unnest($2::text[]) as project,
        unnest($3::text[]) as environment, unnest($4::text[]) as customer,
        unnest($5::bigint[]) as version, unnest($6::bigint[]) as seen
) as wanted
cross join lateral (
    select s.head from {schema}.shards as s
    -- Starts at the known head, as in lock_shards.
    where s.shard = wanted.shard and s.head >= wanted.seen
    order by s.head desc limit 1
) as s
left join lateral (
    select e.version from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer
        -- A stream's versions have no gaps. Without an upper bound, the planner would sort the whole stream.
        and e.version between wanted.version + $7::bigint and wanted.version + $7::bigint
        and e.shard + 0 = wanted.shard and e.seq + 0 between 1 and s.head
    -- With an order and a limit, the planner can only use the index of streams.
    order by e.version limit 1
) as late on true
cross join lateral (
    select * from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer
        and e.version between coalesce(late.version, wanted.version + 1)
            and coalesce(late.version, wanted.version + $7::bigint, 9223372036854775807)
        -- Only events up to the head of the stream's shard are part of the log. `+ 0` keeps the planner from using the
        -- primary key to find the stream.
        and e.shard + 0 = wanted.shard and e.seq between 1 and s.head
    order by e.version
) as e
