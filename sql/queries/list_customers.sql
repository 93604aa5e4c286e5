-- 1 shard, 2 project, 3 environment and 4 customer after which, 5 how many
select c.environment, c.customer
from {schema}.customers as c
where c.shard = $1::smallint and c.project = $2::text
    and (c.environment, c.customer) > ($3::text, $4::text)
order by c.environment, c.customer
limit $5::bigint
