-- Budgets for store calls that are in use, or paused at the store's request.
-- $1 now in microseconds
select project, store, app, environment, endpoint, greatest(used_until - $1::bigint, 0) / 1000,
    greatest(rests_until - $1::bigint, 0) / 1000
from {schema}.store_budgets
where used_until > $1::bigint or rests_until > $1::bigint
order by project, store, app, environment, endpoint
limit 100
