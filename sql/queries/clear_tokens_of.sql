-- 1 projects, 2 environments, 3 customers
delete from {schema}.tokens
where (customer, project, environment) in (
    select customer, project, environment
    from unnest($1::text[], $2::text[], $3::text[]) as gone (project, environment, customer)
)
