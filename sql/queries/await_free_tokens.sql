-- Of tokens that customers have, nothing is written.
-- 1 projects, 2 environments, 3 tokens, 4 stores, 5 originals, 6 apps
insert into {schema}.unclaimed_tokens (project, environment, token, store, original, app)
select new.*
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as new (project, environment, token, store, original, app)
-- One by one, as in load_holders.
left join lateral (
    select t.customer from {schema}.tokens as t
    where t.project = new.project and t.environment = new.environment and t.token = new.token
    limit 1
) as owner on true
where owner.customer is null
on conflict on constraint unclaimed_tokens_pkey do nothing
