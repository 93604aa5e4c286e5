-- Every row that is kept under these names, whether or not a customer can have them. What the log tells of them is
-- written behind it. Waiting credits stay: the fold does not tell which of them were settled.
-- 1 shards, 2 projects, 3 environments, 4 customers
with gone as (
    select * from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
        as gone (shard, project, environment, customer)
), customers as (
    delete from {schema}.customers where (shard, project, environment, customer) in (table gone)
), purchases as (
    delete from {schema}.purchases where (shard, project, environment, customer) in (table gone)
), balances as (
    delete from {schema}.customer_balances
    where (shard, project, environment, customer) in (table gone)
)
delete from {schema}.orders where (shard, project, environment, customer) in (table gone)
