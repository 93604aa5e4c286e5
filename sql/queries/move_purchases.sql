-- Purchases whose holders' shards are locked, so that no other process moves them.
-- 1 projects, 2 stores, 3 environments, 4 apps, 5 originals, 6 customers
update {schema}.holders as h
set customer = new.customer
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as new (project, store, environment, app, original, customer)
where (h.project, h.store, h.environment, h.app, h.original)
    = (new.project, new.store, new.environment, new.app, new.original)
