-- Customers with a recorded action for a ticket, and customers who hold a grant for it. A grant may have come with a
-- merge. Returns each customer's newest event for the ticket, and whether more customers may match: only the 1,000
-- newest events and grants of each environment are examined.
-- $1 project, $2 environments, $3 ticket, $4 ticket as JSON, $5 limit
with acts as materialized (
    select a.*
    from unnest($2::text[]) as wanted (environment)
    cross join lateral (
        select e.customer, e.environment, e.version, e.recorded_at as at
        from {schema}.events as e
        where strpos(e.payload, '"ticket":"') > 0
            and hashtextextended(substring(e.payload from '"ticket":("(?:[^"\\]|\\.)*")'), 0)
                = hashtextextended($4::text, 0)
            and strpos(e.payload, '"ticket":' || $4::text) > 0
            and e.project = $1::text and e.environment = wanted.environment
            -- Excludes the project's own events, purchases without a customer, and erased customers.
            and not starts_with(e.customer, '$') and e.type <> 'customer.erased'
            -- Events beyond the head are not part of the log.
            and e.seq <= (
                select s.head from {schema}.shards as s where s.shard = e.shard
                order by s.head desc limit 1
            )
        order by e.recorded_at desc
        limit 1000
    ) as a
), grants as materialized (
    select g.*
    from unnest($2::text[]) as wanted (environment)
    cross join lateral (
        select g.customer, g.environment, null::bigint as version, g.given_at as at
        from {schema}.customer_grants as g
        where g.ticket = $3::text and g.project = $1::text and g.environment = wanted.environment
        order by g.given_at desc, g.grant_id desc
        limit 1000
    ) as g
)
select f.customer, f.environment, max(f.version),
    (select count(*) from acts) >= 1000 or (select count(*) from grants) >= 1000
from (select * from acts union all select * from grants) as f
group by f.customer, f.environment
order by max(f.at) desc, f.environment, f.customer
limit $5::bigint
