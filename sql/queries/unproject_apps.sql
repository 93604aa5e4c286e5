-- 1 stores, 2 apps, 3 projects
delete from {schema}.apps as a
using unnest($1::text[], $2::text[], $3::text[]) as gone (store, app, project)
where (a.store, a.app, a.project) = (gone.store, gone.app, gone.project)
