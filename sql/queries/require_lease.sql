-- Keeps other instances from taking the lease until the transaction ends.
-- $1 name, $2 fence
select from {schema}.leases where name = $1 and fence = $2 for share
