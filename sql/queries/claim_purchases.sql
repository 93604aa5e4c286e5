-- Purchases without a holder when the shards were locked.
-- 1 projects, 2 stores, 3 environments, 4 apps, 5 originals, 6 customers
insert into {schema}.holders (project, store, environment, app, original, customer)
-- Row by row, as in insert_events.
select unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::text[]), unnest($6::text[])
