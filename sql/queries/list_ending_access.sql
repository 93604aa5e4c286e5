-- 1 project, 2 environment, 3 now, 4 not ending after; 5 limit
-- Customers whose access ends by then, earliest end first, each with the total number.
select c.customer, e.key, upper(run), count(*) over ()
from {schema}.customers as c
cross join lateral jsonb_each_text(c.runs) as e
cross join lateral unnest(e.value::int8multirange) as run
where c.project = $1::text and c.environment = $2::text and not starts_with(c.customer, '$unclaimed/')
    and run @> $3::bigint and upper(run) <= $4::bigint
order by upper(run), c.customer, e.key
limit $5::bigint
