-- 1 shards, 2 projects, 3 environments, 4 customers
with gone as (
    select * from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
        as gone (shard, project, environment, customer)
), purchases as (
    delete from deed.purchases where (shard, project, environment, customer) in (table gone)
), grants as (
    delete from deed.grants where (shard, project, environment, customer) in (table gone)
), balances as (
    delete from deed.customer_balances
    where (shard, project, environment, customer) in (table gone)
)
delete from deed.orders where (shard, project, environment, customer) in (table gone)
