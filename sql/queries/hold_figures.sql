-- 1 project, 2 environment
-- Keeps erasures from changing the row until the transaction ends.
select from {schema}.figures where project = $1::text and environment = $2::text for update
