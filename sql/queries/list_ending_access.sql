-- Customers in a page whose access ends in a period.
-- $1 shard; the page starts after $2 customer, $3 project, $4 environment and ends with $5, $6, $7; $8 now, $9 end of
-- the period
select c.project, c.environment, c.customer, c.version, e.key, upper(run)
from {schema}.customers as c
cross join lateral jsonb_each_text(c.runs) as e
cross join lateral unnest(e.value::int8multirange) as run
where c.shard = $1::smallint
    and (c.customer, c.project, c.environment) > ($2::text, $3::text, $4::text)
    and (c.customer, c.project, c.environment) <= ($5::text, $6::text, $7::text)
    and not starts_with(c.customer, '$unclaimed/')
    and run @> $8::bigint and upper(run) <= $9::bigint
