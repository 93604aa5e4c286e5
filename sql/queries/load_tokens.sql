-- $1 projects, $2 environments, $3 tokens
select t.project, t.environment, t.token, t.customer
from unnest($1::text[], $2::text[], $3::text[]) as wanted (project, environment, token)
-- Looks up each row individually, as in load_holders.
cross join lateral (
    select * from {schema}.tokens as t
    where t.project = wanted.project and t.environment = wanted.environment
        and t.token = wanted.token
    limit 1
) as t
