-- 1 name, 2 fence
-- Keeps other instances from taking the lease until the transaction ends.
select from {schema}.leases where name = $1 and fence = $2 for share
