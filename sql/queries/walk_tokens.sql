-- 1 project, 2 environment and 3 name after which, 4 a project, null: all
select project, environment, token, customer
from {schema}.tokens
where (token, project, environment) > ($3::text, $1::text, $2::text)
    and ($4::text is null or project = $4::text)
order by token, project, environment
limit 500
