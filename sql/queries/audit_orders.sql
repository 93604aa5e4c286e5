-- Each column as text, as ProjectedTable names them.
-- 1 shards, 2 projects, 3 environments, 4 customers
select shard::text, project, environment, customer, t.order_id, t.token, t.product, t.opened_at::text,
    t.expires_at::text, t.fulfilled_by, t.closed_at::text, t.closed_because
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.orders as t using (shard, project, environment, customer)
