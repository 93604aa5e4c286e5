-- Those of the orders that the customers have.
-- 1 shards, 2 projects, 3 environments, 4 customers
select n.project, n.environment, n.order_id, n.customer
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.orders as o using (shard, project, environment, customer)
join {schema}.order_owners as n on n.order_id = o.order_id and n.project = wanted.project
    and n.environment = wanted.environment and n.customer = wanted.customer
