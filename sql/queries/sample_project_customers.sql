-- $1 shard, $2 project, $3 limit
select project, environment, customer
from {schema}.customers
where shard = $1::smallint and project = $2::text
order by random()
limit $3::bigint
