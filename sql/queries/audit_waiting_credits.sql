-- Each column as text, as ProjectedTable names them.
-- 1 shards, 2 projects, 3 environments, 4 customers
select shard::text, project, environment, customer, t.store, t.original, t.transaction_id, t.product
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.waiting_credits as t using (shard, project, environment, customer)
