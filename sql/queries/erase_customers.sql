-- 1 shards, 2 projects, 3 environments, 4 customers
with gone as (
    select * from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
        as gone (shard, project, environment, customer)
), purchases as (
    delete from {schema}.purchases where (shard, project, environment, customer) in (table gone)
), balances as (
    delete from {schema}.customer_balances
    where (shard, project, environment, customer) in (table gone)
), waiting_credits as (
    delete from {schema}.waiting_credits
    where (shard, project, environment, customer) in (table gone)
), tokens as (
    delete from {schema}.tokens
    where (customer, project, environment) in (select customer, project, environment from gone)
), questions as (
    delete from {schema}.history_questions
    where (customer, project, environment) in (select customer, project, environment from gone)
), orders as (
    delete from {schema}.orders where (shard, project, environment, customer) in (table gone)
    returning project, environment, order_id
)
delete from {schema}.order_owners where (project, environment, order_id) in (table orders)
