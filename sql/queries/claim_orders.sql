-- $1 projects, $2 environments, $3 orders, $4 customers
select {schema}.claim_orders($1::text[], $2::text[], $3::text[], $4::text[])
