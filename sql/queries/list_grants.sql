-- Grants of a project, the newest first. Of one that waits nothing but its customer's events tells when it is active.
-- 1 project, 2 environment, 3 given at and 4 id before which, 5 given by, 6 entitlement, 7 words of the reason,
-- 8 given from, 9 given before, 10 active at, 11 how many
select g.customer, g.grant_id, g.given_at
from {schema}.customer_grants as g
where g.project || '/' || g.environment = $1::text || '/' || $2::text
    and g.project = $1::text and g.environment = $2::text
    and (g.given_at, g.grant_id) < ($3::bigint, $4::text)
    and g.given_at >= $8::bigint and g.given_at < $9::bigint
    and ($5::text is null or g.given_by = $5::text)
    and ($6::text is null or g.entitlement = $6::text)
    and ($7::text is null or position(lower($7::text) in lower(g.reason)) > 0)
    and ($10::bigint is null or g.starts_at <= $10::bigint
        and (g.ends_at is null or g.ends_at > $10::bigint)
        and (g.revoked_at is null or g.revoked_at > $10::bigint))
order by g.given_at desc, g.grant_id desc
limit $11::bigint
