-- A page of customers: 1 shard, after 2 customer, 3 project, 4 environment, up to 5, 6, 7; 8 now, 9 not ending after
-- Customers whose access ends by then.
select c.project, c.environment, c.customer, c.version, e.key, upper(run)
from {schema}.customers as c
cross join lateral jsonb_each_text(c.runs) as e
cross join lateral unnest(e.value::int8multirange) as run
where c.shard = $1::smallint
    and (c.customer, c.project, c.environment) > ($2::text, $3::text, $4::text)
    and (c.customer, c.project, c.environment) <= ($5::text, $6::text, $7::text)
    and not starts_with(c.customer, '$unclaimed/')
    and run @> $8::bigint and upper(run) <= $9::bigint
