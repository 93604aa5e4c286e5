-- 1 projects, 2 creations, 3 catalog versions
insert into deed.projects (project, created_at, catalog_version)
select * from unnest($1::text[], $2::bigint[], $3::bigint[])
on conflict (project) do update set catalog_version = excluded.catalog_version
