-- 1 project, 2 environment, 3 and 4 two instants
-- How many customers have access to each entitlement at the first instant, and at the second.
select e.key, count(*) filter (where e.value::int8multirange @> $3::bigint),
    count(*) filter (where e.value::int8multirange @> $4::bigint)
from {schema}.customers as c
cross join lateral jsonb_each_text(c.runs) as e
where c.project = $1::text and c.environment = $2::text and not starts_with(c.customer, '$unclaimed/')
group by e.key
order by e.key
