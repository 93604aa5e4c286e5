-- Counts the unclaimed purchases in a page of customers.
-- $1 shard; the page starts after $2 customer, $3 project, $4 environment and ends with $5, $6, $7
select p.project, p.environment, count(*)
from {schema}.purchases as p
where p.shard = $1::smallint
    and (p.customer, p.project, p.environment) > ($2::text, $3::text, $4::text)
    and (p.customer, p.project, p.environment) <= ($5::text, $6::text, $7::text)
    and starts_with(p.customer, '$unclaimed/')
group by p.project, p.environment
