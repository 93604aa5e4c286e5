-- Refunds of a page of customers in a period.
-- $1 shard; the page starts after $2 customer, $3 project, $4 environment and ends with $5, $6, $7; the period starts
-- after $8 and ends with $9
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
