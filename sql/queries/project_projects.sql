-- 1 projects, 2 creations, 3 catalog versions, 4 from when on boundaries are published, 5 when they were
-- reconciled, 6 whether all was well, 7 when one was requested
insert into deed.projects (
    project, created_at, catalog_version, publishes_since, reconciled_at, is_sound, requested_at
)
select * from unnest(
    $1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[],
    $7::bigint[])
on conflict (project) do update
set created_at = excluded.created_at, catalog_version = excluded.catalog_version, publishes_since = excluded.publishes_since,
    reconciled_at = excluded.reconciled_at, is_sound = excluded.is_sound,
    requested_at = excluded.requested_at
