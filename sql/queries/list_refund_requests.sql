-- Customers with an undecided refund request, most urgent first.
-- $1 project, $2 environment, $3 instant after which requests can be answered; continue after $4 answer by,
-- $5 customer; $6 limit
select c.customer, c.answer_by
from {schema}.customers as c
where c.project = $1::text and c.environment = $2::text and c.answer_by is not null
    and c.answer_by > $3::bigint and (c.answer_by, c.customer) > ($4::bigint, $5::text)
order by c.answer_by, c.customer
limit $6::bigint
