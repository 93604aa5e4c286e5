-- In addition to load_streams, where each stream's shard ends: of one snapshot, so that neither is newer. The
-- chain there is told with the stream's first row.
-- 1 shards, 2 projects, 3 environments, 4 customers, 5 versions already known, 6 heads that were seen of the shards
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format, wanted.shard, s.head,
    case when e.version is null or e.version = wanted.version + 1 then s.chain end
from (
    select unnest($1::smallint[]) as shard, unnest($2::text[]) as project,
        unnest($3::text[]) as environment, unnest($4::text[]) as customer,
        unnest($5::bigint[]) as version, unnest($6::bigint[]) as seen
) as wanted
-- One by one, as in load_holders.
left join lateral (
    select s.head, s.chain from {schema}.shards as s
    -- As in lock_shards.
    where s.shard = wanted.shard and s.head >= wanted.seen
    order by s.head desc limit 1
) as s on true
-- A stream without news has a row too, without an event.
left join lateral (
    select * from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer and e.version > wanted.version
        -- As in load_streams.
        and e.shard + 0 = wanted.shard and e.seq between 1 and s.head
    order by e.version
) as e on true
