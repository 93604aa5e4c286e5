-- $1 shards, $2 projects, $3 environments, $4 customers, $5 known versions, $6 last wanted versions
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format
from (
    select unnest($1::smallint[]) as shard, unnest($2::text[]) as project,
        unnest($3::text[]) as environment, unnest($4::text[]) as customer,
        unnest($5::bigint[]) as version, unnest($6::bigint[]) as through
) as wanted
cross join lateral (
    select s.head from {schema}.shards as s where s.shard = wanted.shard
    -- Reads the newest version, as in lock_shards.
    order by s.head desc limit 1
) as s
cross join lateral (
    select * from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer and e.version > wanted.version
        and e.version <= wanted.through
        -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
        and e.shard + 0 = wanted.shard and e.seq between 1 and s.head
    order by e.version
) as e
