-- Tokens that belong to customers although purchases wait under them or other customers' purchases carry them.
-- $1 project
select distinct t.environment, t.token, t.customer
from (
    select project, environment, token from {schema}.unclaimed_tokens
    union all
    select project, environment, token from {schema}.carried_tokens
) as w
join {schema}.tokens as t
    on t.token = w.token and t.project = w.project and t.environment = w.environment
where w.project = $1::text
order by t.environment, t.token
