-- 1 shards, 2 projects, 3 environments, 4 customers, 5 versions, 6 next changes,
-- 7 catalog versions, 8 runs
insert into deed.customers (
    shard, project, environment, customer, version, next_change_at, catalog_version, runs
)
select shard, project, environment, customer, version, next_change_at, catalog_version, runs::jsonb
from unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::text[]
) as new (
    shard, project, environment, customer, version, next_change_at, catalog_version, runs
)
on conflict (shard, project, environment, customer) do update
set version = excluded.version, next_change_at = excluded.next_change_at,
    catalog_version = excluded.catalog_version, runs = excluded.runs
