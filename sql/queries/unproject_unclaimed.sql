-- 1 projects, 2 environments, 3 stores, 4 originals
with gone as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
        as gone (project, environment, store, original)
), tokens as (
    delete from {schema}.unclaimed_tokens as u using gone
    where (u.original, u.project, u.environment, u.store)
        = (gone.original, gone.project, gone.environment, gone.store)
)
delete from {schema}.unclaimed as u using gone
where (u.project, u.environment, u.store, u.original)
    = (gone.project, gone.environment, gone.store, gone.original)
