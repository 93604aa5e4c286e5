-- A page of unclaimed purchases. For each, finds a purchase that its events name and that a customer holds.
-- $1 project; continue after $2 environment, $3 store, $4 original; $5 limit
select u.environment, u.store, u.original, held.original
from (
    select * from {schema}.unclaimed as u
    where u.project = $1::text and (u.environment, u.store, u.original) > ($2::text, $3::text, $4::text)
    order by u.environment, u.store, u.original
    limit $5::bigint
) as u
left join lateral (
    select earlier.original
    from (
        -- Searches the payload as text, because only the fold interprets payloads, and a damaged
        -- one must not stop the page.
        select substring(e.payload from '"previous_original":"([^"\\]+)"') as original
        from {schema}.events as e
        where e.customer = '$unclaimed/' || u.store || ':' || u.original and e.project = u.project
            and e.environment = u.environment
        order by e.version desc
        -- The purchase's newest events also name the earlier purchase.
        limit 100
    ) as earlier
    -- Looks up each row individually, as in load_holders.
    cross join lateral (
        select h.customer from {schema}.holders as h
        where h.original = earlier.original and h.project = u.project and h.store = u.store
            and h.environment = u.environment and h.app = u.app
        limit 1
    ) as h
    where not starts_with(h.customer, '$unclaimed/')
    limit 1
) as held on true
order by u.environment, u.store, u.original
