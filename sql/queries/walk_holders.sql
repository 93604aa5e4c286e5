-- 1 project, 2 store, 3 environment, 4 app and 5 original after which, 6 a project, null: all
select project, store, environment, app, original, customer
from {schema}.holders
where (original, project, store, environment, app)
    > ($5::text, $1::text, $2::text, $3::text, $4::text)
    and ($6::text is null or project = $6::text)
order by original, project, store, environment, app
limit 500
