-- 1 project, 2 environment, 3 store and 4 original after which, 5 a project, null: all
select project, environment, store, original, app
from {schema}.unclaimed
where (project, environment, store, original) > ($1::text, $2::text, $3::text, $4::text)
    and ($5::text is null or project = $5::text)
order by project, environment, store, original
limit 500
