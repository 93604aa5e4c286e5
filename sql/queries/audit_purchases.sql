-- Each column as text, as ProjectedTable names them.
-- 1 shards, 2 projects, 3 environments, 4 customers
select shard::text, project, environment, customer, t.store, t.original, t.app, t.kind, t.product,
    t.purchased_at::text, t.expires_at::text, t.revoked_at::text, t.is_upgraded::text,
    t.will_renew::text, t.next_product, t.in_billing_retry::text, t.grace_until::text,
    t.transactions::text
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.purchases as t using (shard, project, environment, customer)
