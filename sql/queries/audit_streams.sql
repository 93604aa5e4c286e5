-- 1 shard, 2 customer, 3 project and 4 environment after which, 5 how many, 6 a project, null: all
select project, environment, customer
from {schema}.customers
where shard = $1::smallint and (customer, project, environment) > ($2::text, $3::text, $4::text)
    and ($6::text is null or project = $6::text)
order by customer, project, environment
limit $5::bigint
