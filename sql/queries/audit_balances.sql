-- Each column as text, as ProjectedTable names them.
-- 1 shards, 2 projects, 3 environments, 4 customers
select shard::text, project, environment, customer, t.currency, t.amount::text
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.customer_balances as t using (shard, project, environment, customer)
