-- 1 project, 2 environment, 3 and 4 two instants
-- How many customers have a paid period or a lasting purchase of each product, at each of the two instants.
select t.product,
    count(distinct p.customer) filter (where
        {schema}.instant(t.purchased) <= {schema}.instant($3::bigint)
        and (t.expires is null or {schema}.instant(t.expires) > {schema}.instant($3::bigint))
        and (t.revoked is null or {schema}.instant(t.revoked) > {schema}.instant($3::bigint))
        and (p.blocked_at is null or p.blocked_at > $3::bigint)),
    count(distinct p.customer) filter (where
        {schema}.instant(t.purchased) <= {schema}.instant($4::bigint)
        and (t.expires is null or {schema}.instant(t.expires) > {schema}.instant($4::bigint))
        and (t.revoked is null or {schema}.instant(t.revoked) > {schema}.instant($4::bigint))
        and (p.blocked_at is null or p.blocked_at > $4::bigint))
from {schema}.purchases as p
cross join lateral json_to_recordset(p.transactions) as t (
    product text, purchased text, expires text, upgraded boolean, revoked text)
where p.project = $1::text and p.environment = $2::text and not starts_with(p.customer, '$unclaimed/')
    and p.kind in ('auto_renewable', 'non_consumable') and not coalesce(t.upgraded, false)
group by t.product
order by t.product
