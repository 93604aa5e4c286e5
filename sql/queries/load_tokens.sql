-- 1 projects, 2 environments, 3 tokens
select t.project, t.environment, t.token, t.customer
from unnest($1::text[], $2::text[], $3::text[]) as wanted (project, environment, token)
join deed.tokens as t using (project, environment, token)
