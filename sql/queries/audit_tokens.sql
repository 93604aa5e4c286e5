-- 1 shards, 2 projects, 3 environments, 4 customers
select t.project, t.environment, t.token, t.customer
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.tokens as t using (project, environment, customer)
