-- By the purchases: no index leads from a customer to them.
-- 1 projects, 2 stores, 3 environments, 4 apps, 5 originals
select h.project, h.store, h.environment, h.app, h.original, h.customer
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
    as wanted (project, store, environment, app, original)
join {schema}.holders as h using (project, store, environment, app, original)
