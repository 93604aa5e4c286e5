-- The app's purchases whose first or later token has that name.
-- $1 project, $2 store, $3 app, $4 the token's name
select h.environment, h.original
from {schema}.holders as h
where h.original = $4::text and h.project = $1::text and h.store = $2::text and h.app = $3::text
union all
select t.environment, t.original
from {schema}.transaction_names as t
where t.transaction_id = $4::text and t.project = $1::text and t.store = $2::text
    and t.app = $3::text
order by 1, 2
limit 4
