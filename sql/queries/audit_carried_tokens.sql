-- 1 shards, 2 projects, 3 environments, 4 customers
select c.project, c.environment, c.token, c.store, c.original, c.app, c.customer
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.carried_tokens as c using (project, environment, customer)
