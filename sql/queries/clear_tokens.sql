-- 1 projects, 2 environments, 3 tokens, 4 customers who are named there: null for any
delete from {schema}.tokens as t
using unnest($1::text[], $2::text[], $3::text[], $4::text[])
    as gone (project, environment, token, customer)
where t.project = gone.project and t.environment = gone.environment and t.token = gone.token
    and (gone.customer is null or t.customer = gone.customer)
