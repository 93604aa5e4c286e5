-- Keeps erasures from changing the row until the transaction ends.
-- $1 project, $2 environment
select from {schema}.figures where project = $1::text and environment = $2::text for update
