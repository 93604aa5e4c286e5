-- A page of customers: 1 shard, after 2 customer, 3 project, 4 environment, up to 5, 6, 7; 8 after, 9 not after
-- Refunds in that time.
select p.project, p.environment, p.customer, c.version, t.product, p.store || ':' || p.original,
    t.transaction, t.revoked
from {schema}.purchases as p
join {schema}.customers as c using (shard, customer, project, environment)
cross join lateral json_to_recordset(p.transactions) as t (
    transaction text, product text, ownership text, revoked text, revoked_extent text)
where p.shard = $1::smallint
    and (p.customer, p.project, p.environment) > ($2::text, $3::text, $4::text)
    and (p.customer, p.project, p.environment) <= ($5::text, $6::text, $7::text)
    and t.revoked is not null
    and coalesce(t.ownership, 'purchased') = 'purchased' and t.revoked_extent is distinct from 'family'
    and {schema}.instant(t.revoked) > {schema}.instant($8::bigint)
    and {schema}.instant(t.revoked) <= {schema}.instant($9::bigint)
