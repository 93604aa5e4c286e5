-- 1 shard
select rows.name, rows.project || ', ' || rows.environment || ', ' || rows.customer, count(*) over ()
from (
    select 'deed.purchases' as name, project, environment, customer
    from deed.purchases where shard = $1::smallint
    union
    select 'deed.customer_balances', project, environment, customer
    from deed.customer_balances where shard = $1::smallint
    union
    select 'deed.orders', project, environment, customer
    from deed.orders where shard = $1::smallint
) as rows
where not exists (
    select from deed.customers as c
    where c.shard = $1::smallint and c.customer = rows.customer and c.project = rows.project
        and c.environment = rows.environment
)
order by 1, 2
limit 100
