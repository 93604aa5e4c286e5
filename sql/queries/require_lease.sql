-- 1 name, 2 fence
-- Until the end of the transaction no other instance takes it over.
select from {schema}.leases where name = $1 and fence = $2 for share
