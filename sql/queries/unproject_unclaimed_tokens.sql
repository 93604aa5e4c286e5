-- 1 projects, 2 environments, 3 tokens, 4 stores, 5 originals
delete from {schema}.unclaimed_tokens as u
using unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
    as gone (project, environment, token, store, original)
where (u.token, u.project, u.environment, u.store, u.original)
    = (gone.token, gone.project, gone.environment, gone.store, gone.original)
