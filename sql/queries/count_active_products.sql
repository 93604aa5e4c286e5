-- Counts a page of customers with a paid period or a lasting purchase of each product, at two instants.
-- $1 shard; the page starts after $2 customer, $3 project, $4 environment and ends with $5, $6, $7; $8 first instant,
-- $9 second instant
select p.project, p.environment, t.product,
    count(distinct p.customer) filter (where
        {schema}.instant(t.purchased) <= {schema}.instant($8::bigint)
        and (t.expires is null or {schema}.instant(t.expires) > {schema}.instant($8::bigint))
        and (t.revoked is null or {schema}.instant(t.revoked) > {schema}.instant($8::bigint))
        and (p.blocked_at is null or p.blocked_at > $8::bigint)),
    count(distinct p.customer) filter (where
        {schema}.instant(t.purchased) <= {schema}.instant($9::bigint)
        and (t.expires is null or {schema}.instant(t.expires) > {schema}.instant($9::bigint))
        and (t.revoked is null or {schema}.instant(t.revoked) > {schema}.instant($9::bigint))
        and (p.blocked_at is null or p.blocked_at > $9::bigint))
from {schema}.purchases as p
cross join lateral json_to_recordset(p.transactions) as t (
    product text, purchased text, expires text, upgraded boolean, revoked text)
where p.shard = $1::smallint
    and (p.customer, p.project, p.environment) > ($2::text, $3::text, $4::text)
    and (p.customer, p.project, p.environment) <= ($5::text, $6::text, $7::text)
    and not starts_with(p.customer, '$unclaimed/')
    and p.kind in ('auto_renewable', 'non_consumable') and not coalesce(t.upgraded, false)
group by p.project, p.environment, t.product
