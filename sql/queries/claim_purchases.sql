-- Purchases that nobody held when the shards were locked.
-- 1 projects, 2 stores, 3 environments, 4 apps, 5 originals, 6 customers
insert into deed.holders (project, store, environment, app, original, customer)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
