-- The last customer of a page.
-- $1 shard; the page starts after $2 customer, $3 project, $4 environment; $5 limit
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
