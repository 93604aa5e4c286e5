-- $1 project, $2 environment, $3 order
select customer from {schema}.order_owners
where project = $1::text and environment = $2::text and order_id = $3::text
