-- Counts a page of customers with access to each entitlement, at two instants.
-- $1 shard; the page starts after $2 customer, $3 project, $4 environment and ends with $5, $6, $7; $8 first instant,
-- $9 second instant
select c.project, c.environment, e.key, count(*) filter (where e.value::int8multirange @> $8::bigint),
    count(*) filter (where e.value::int8multirange @> $9::bigint)
from {schema}.customers as c
cross join lateral jsonb_each_text(c.runs) as e
where c.shard = $1::smallint
    and (c.customer, c.project, c.environment) > ($2::text, $3::text, $4::text)
    and (c.customer, c.project, c.environment) <= ($5::text, $6::text, $7::text)
    and not starts_with(c.customer, '$unclaimed/')
group by c.project, c.environment, e.key
