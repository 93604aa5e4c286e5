-- 1 name
select ran_at from {schema}.leases where name = $1
