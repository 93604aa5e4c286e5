-- Customers in some apps whose subscriptions are due for a store query, most overdue first.
-- $1 project, $2 apps, $3 instant; continue after $4 instant, $5 environment, $6 customer; $7 limit
select c.environment, c.customer, c.inquiry_at
from {schema}.customers as c
where c.project = $1::text and c.inquiry_at <= $3::bigint
    and (c.inquiry_at, c.environment, c.customer) > ($4::bigint, $5::text, $6::text)
    and exists (
        select from {schema}.purchases as p
        where p.shard = c.shard and p.customer = c.customer and p.project = c.project
            and p.environment = c.environment and p.app = any ($2::text[])
    )
order by c.inquiry_at, c.environment, c.customer
limit $7::bigint
