-- 1 projects, 2 stores, 3 environments, 4 apps, 5 originals, 6 customers who are named there: null for any
delete from {schema}.holders as t
using unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as gone (project, store, environment, app, original, customer)
where t.project = gone.project and t.store = gone.store and t.environment = gone.environment
    and t.app = gone.app and t.original = gone.original
    and (gone.customer is null or t.customer = gone.customer)
