-- 1 project, 2 environment and 3 name after which, 4 a project, null: all
select project, environment, order_id, customer
from {schema}.order_owners
where (order_id, project, environment) > ($3::text, $1::text, $2::text)
    and ($4::text is null or project = $4::text)
order by order_id, project, environment
limit 500
