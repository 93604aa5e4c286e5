-- Customers whose id has a prefix, in byte order.
-- $1 project, $2 environments, $3 prefix, $4 first string after all strings with this prefix, $5 limit for each
-- environment
select c.customer, c.environment
from unnest($2::text[]) as wanted (environment)
cross join lateral (
    select c.customer, c.environment
    from {schema}.customers as c
    where c.project = $1::text collate "C" and c.environment = wanted.environment collate "C"
        and c.customer >= $3::text collate "C" and c.customer < $4::text collate "C"
        and not starts_with(c.customer, '$unclaimed/')
    order by c.customer collate "C"
    limit $5::bigint
) as c
