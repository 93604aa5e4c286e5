-- $1 projects, $2 environments, $3 tokens, $4 limit for each token
select u.project, u.environment, u.token, u.store, u.original, u.app
from unnest($1::text[], $2::text[], $3::text[]) as wanted (project, environment, token)
-- Looks up each row individually, as in load_holders.
cross join lateral (
    select * from {schema}.unclaimed_tokens as u
    where u.project = wanted.project and u.environment = wanted.environment
        and u.token = wanted.token
    limit $4::bigint
) as u
