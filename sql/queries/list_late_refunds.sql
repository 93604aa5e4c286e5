-- 1 project, 2 environment, 3 after, 4 not after; 5 limit
-- Refunds in that time, newest first, each with the total number.
select p.customer, t.product, p.store || ':' || p.original, t.transaction, t.revoked, count(*) over ()
from {schema}.purchases as p
cross join lateral json_to_recordset(p.transactions) as t (
    transaction text, product text, ownership text, revoked text, revoked_extent text)
where p.project = $1::text and p.environment = $2::text and t.revoked is not null
    and coalesce(t.ownership, 'purchased') = 'purchased' and t.revoked_extent is distinct from 'family'
    and {schema}.instant(t.revoked) > {schema}.instant($3::bigint)
    and {schema}.instant(t.revoked) <= {schema}.instant($4::bigint)
order by {schema}.instant(t.revoked) desc, t.transaction
limit $5::bigint
