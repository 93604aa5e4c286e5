-- 1 shard, continue after: 2 customer, 3 project, 4 environment; 5 limit
-- The last one of a page of customers.
select customer, project, environment from (
    select c.customer, c.project, c.environment
    from {schema}.customers as c
    where c.shard = $1::smallint
        and (c.customer, c.project, c.environment) > ($2::text, $3::text, $4::text)
    order by c.customer, c.project, c.environment
    limit $5::bigint
) as page
order by customer desc, project desc, environment desc
limit 1
