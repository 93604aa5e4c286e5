-- Returns the columns of follow_shards for the streams' first events after a version and up to a
-- position. Each of many streams returns at least one event but no more than 64 KiB of payload.
-- $1 shards, $2 projects, $3 environments, $4 customers, $5 versions, $6 positions, $7 limit for each
select wanted.shard, wanted.through, null::bytea, wanted.number,
    e.seq, e.project, e.environment, e.customer, e.version, e.type,
    e.payload, e.format, e.chain, e.occurred_at, e.recorded_at, e.actor, e.cause, e.catalog_version
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    with ordinality as wanted (shard, project, environment, customer, version, through, number)
cross join lateral (
    select f.*, sum(octet_length(f.payload)) over (order by f.version) - octet_length(f.payload) as earlier
    from (
        select * from {schema}.events as e
        where e.project = wanted.project and e.environment = wanted.environment
            and e.customer = wanted.customer and e.version > wanted.version
            -- The upper bound is needed, as in list_events.
            and e.version <= wanted.version + $7::bigint
            -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
            and e.shard + 0 = wanted.shard and e.seq between 1 and wanted.through
        order by e.version
        limit $7::bigint
    ) as f
) as e
where e.earlier < 65536
order by wanted.number, e.version
