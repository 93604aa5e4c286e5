-- Reads in key order, so that a page reads no more rows than it returns.
-- $1 shard, $2 project; continue after $3 environment, $4 customer; $5 limit
select c.environment, c.customer
from {schema}.customers as c
where c.shard = $1::smallint and c.project = $2::text and c.customer >= $4::text
    and (c.customer, c.environment) > ($4::text, $3::text)
order by c.customer, c.environment
limit $5::bigint
