-- 1 projects, 2 environments, 3 orders, 4 customers who are named there: null for any
delete from {schema}.order_owners as t
using unnest($1::text[], $2::text[], $3::text[], $4::text[])
    as gone (project, environment, order_id, customer)
where t.project = gone.project and t.environment = gone.environment and t.order_id = gone.order_id
    and (gone.customer is null or t.customer = gone.customer)
