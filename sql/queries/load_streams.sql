-- 1 shards, 2 projects, 3 environments, 4 customers, 5 versions already known, 6 heads that were seen of the shards,
-- 7 the most events of a stream or null
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
    -- As in lock_shards.
    where s.shard = wanted.shard and s.head >= wanted.seen
    order by s.head desc limit 1
) as s
cross join lateral (
    select * from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer and e.version > wanted.version
        -- Only what the head of the stream's shard covers is part of the log. The shard is compared so
        -- that no index serves it: the primary key must not look like a way to the stream.
        and e.shard + 0 = wanted.shard and e.seq between 1 and s.head
    order by e.version
    limit $7::bigint
) as e
