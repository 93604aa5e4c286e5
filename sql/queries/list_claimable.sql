-- Tokens of customers under which purchases wait all the same, or that others' purchases carry.
-- 1 project
select distinct t.environment, t.token, t.customer
from (
    select project, environment, token from deed.unclaimed_tokens
    union all
    select project, environment, token from deed.carried_tokens
) as w
join deed.tokens as t
    on t.token = w.token and t.project = w.project and t.environment = w.environment
where w.project = $1::text
order by t.environment, t.token
