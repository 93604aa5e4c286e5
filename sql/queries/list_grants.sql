-- A project's grants, newest first. The condition by which an index finds them is filled in, and may add a parameter.
-- For a waiting grant, only its customer's events show when it is active. If more rows may follow, the last row is the
-- last one that was read.
-- $1 project, $2 environment; continue before $3 given at, $4 id; $5 given by, $6 entitlement, $7 words of the reason,
-- $8 given from, $9 given before, $10 active at, $11 limit, $12 maximum number of rows to read
with looked as materialized (
    select g.customer, g.grant_id, g.given_at, g.given_by, g.entitlement, g.reason, g.starts_at, g.ends_at, g.revoked_at
    from {schema}.customer_grants as g
    where {found}
        and g.project = $1::text and g.environment = $2::text
        and (g.given_at, g.grant_id) < ($3::bigint, $4::text)
        and g.given_at >= $8::bigint and g.given_at < $9::bigint
    order by g.given_at desc, g.grant_id desc
    limit $12::bigint
), fitting as (
    select l.customer, l.grant_id, l.given_at
    from looked as l
    where ($5::text is null or l.given_by = $5::text)
        and ($6::text is null or l.entitlement = $6::text)
        and ($7::text is null or position(lower($7::text) in lower(l.reason)) > 0)
        and ($10::bigint is null or l.starts_at <= $10::bigint
            and (l.ends_at is null or l.ends_at > $10::bigint)
            and (l.revoked_at is null or l.revoked_at > $10::bigint))
    order by l.given_at desc, l.grant_id desc
    limit $11::bigint
)
select f.customer, f.grant_id, f.given_at, true from fitting as f
union all
select * from (
    select l.customer, l.grant_id, l.given_at, false from looked as l
    where (select count(*) from looked) = $12::bigint
    order by l.given_at, l.grant_id
    limit 1
) as last
