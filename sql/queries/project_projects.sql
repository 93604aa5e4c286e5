-- 1 projects, 2 creations, 3 catalog versions, 4 from when on boundaries are published
insert into deed.projects (project, created_at, catalog_version, publishes_since)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
on conflict (project) do update
set catalog_version = excluded.catalog_version, publishes_since = excluded.publishes_since
