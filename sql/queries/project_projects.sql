-- 1 projects, 2 creations
insert into deed.projects (project, created_at)
select * from unnest($1::text[], $2::bigint[])
on conflict (project) do nothing
