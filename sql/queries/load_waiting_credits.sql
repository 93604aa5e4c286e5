-- $1 shards, $2 projects, $3 environments, $4 customers
select w.project, w.environment, w.customer, w.store, w.original, w.transaction_id, w.product
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
cross join lateral (
    select * from {schema}.waiting_credits as w
    where w.shard = wanted.shard and w.project = wanted.project and w.customer = wanted.customer
        and w.environment = wanted.environment
    order by w.store, w.original, w.transaction_id
) as w
