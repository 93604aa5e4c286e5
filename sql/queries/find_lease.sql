-- 1 name
select ran_at from deed.leases where name = $1
