-- 1 project, 2 environment, 3 token, 4 store and 5 original after which, 6 a project, null: all
select project, environment, token, store, original, app, customer
from {schema}.carried_tokens
where (token, project, environment, store, original)
    > ($3::text, $1::text, $2::text, $4::text, $5::text)
    and ($6::text is null or project = $6::text)
order by token, project, environment, store, original
limit 500
