-- Without a look at what waits under them, which is claimed by a command of its own.
-- 1 projects, 2 environments, 3 tokens, 4 customers
insert into {schema}.tokens (project, environment, token, customer)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
on conflict on constraint tokens_pkey do update set customer = excluded.customer
