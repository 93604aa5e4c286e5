-- What audit_orphans names, of one project.
-- 1 shard, 2 project
with heads as (
    select s.head from {schema}.shards as s where s.shard = $1::smallint
    order by s.head desc limit 1
), names as (
    select project, environment, customer from {schema}.purchases
    where shard = $1::smallint and project = $2::text
    union
    select project, environment, customer from {schema}.customer_balances
    where shard = $1::smallint and project = $2::text
    union
    select project, environment, customer from {schema}.orders
    where shard = $1::smallint and project = $2::text
    union
    select project, environment, customer from {schema}.waiting_credits
    where shard = $1::smallint and project = $2::text
), gone as (
    select n.project, n.environment, n.customer from names as n
    where not exists (
        select from {schema}.customers as c
        where c.shard = $1::smallint and c.customer = n.customer and c.project = n.project
            and c.environment = n.environment
    ) and not exists (
        select from {schema}.events as e
        where e.customer = n.customer and e.project = n.project
            and e.environment = n.environment and e.version = 1 and e.shard = $1::smallint
            and e.seq between 1 and (select head from heads)
    )
), purchases as (
    delete from {schema}.purchases
    where shard = $1::smallint and (project, environment, customer) in (table gone)
    returning project, environment, customer, 'purchases'
), balances as (
    delete from {schema}.customer_balances
    where shard = $1::smallint and (project, environment, customer) in (table gone)
    returning project, environment, customer, 'balances'
), orders as (
    delete from {schema}.orders
    where shard = $1::smallint and (project, environment, customer) in (table gone)
    returning project, environment, customer, 'orders'
), credits as (
    delete from {schema}.waiting_credits
    where shard = $1::smallint and (project, environment, customer) in (table gone)
    returning project, environment, customer, 'credits'
)
-- As audit_orphans counts them: a customer once in each table.
select count(*) from (
    table purchases union table balances union table orders union table credits
) as counted
