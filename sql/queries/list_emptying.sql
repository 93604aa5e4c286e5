-- 1 how many
select project, environment, customer from {schema}.emptying limit $1::bigint
