-- 1 shards, 2 projects, 3 environments, 4 customers, 5 currencies, 6 amounts
insert into {schema}.customer_balances (shard, project, environment, customer, currency, amount)
select * from unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]
)
on conflict (shard, project, environment, customer, currency) do update
set amount = excluded.amount
