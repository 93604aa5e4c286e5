-- $1 projects, $2 stores, $3 environments, $4 apps, $5 originals
select h.project, h.store, h.environment, h.app, h.original, h.customer
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
    as wanted (project, store, environment, app, original)
-- The limit makes the query look up each row individually. It never reads the whole table, however
-- small the table was when the query was planned.
cross join lateral (
    select * from {schema}.holders as h
    where h.project = wanted.project and h.store = wanted.store
        and h.environment = wanted.environment and h.app = wanted.app
        and h.original = wanted.original
    limit 1
) as h
