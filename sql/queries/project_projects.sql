-- 1 projects, 2 creations, 3 catalog versions, 4 when they were reconciled, 5 whether all was well, 6 when
-- one was requested
insert into {schema}.projects (
    project, created_at, catalog_version, reconciled_at, is_sound, requested_at
)
select * from unnest(
    $1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::bigint[])
on conflict (project) do update
set created_at = excluded.created_at, catalog_version = excluded.catalog_version,
    reconciled_at = excluded.reconciled_at, is_sound = excluded.is_sound,
    requested_at = excluded.requested_at
