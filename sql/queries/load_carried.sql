-- $1 projects, $2 environments, $3 tokens, $4 customers who claim them and whose own purchases are left out, $5 limit
-- for each token
select c.project, c.environment, c.token, c.store, c.original, c.app
from unnest($1::text[], $2::text[], $3::text[], $4::text[])
    as wanted (project, environment, token, customer)
-- Looks up each row individually, as in load_holders.
cross join lateral (
    select * from {schema}.carried_tokens as c
    where c.project = wanted.project and c.environment = wanted.environment
        and c.token = wanted.token and c.customer <> wanted.customer
    limit $5::bigint
) as c
