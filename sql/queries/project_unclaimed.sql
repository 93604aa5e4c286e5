-- 1 projects, 2 environments, 3 stores, 4 originals, 5 apps, 6 instants
insert into {schema}.unclaimed (project, environment, store, original, app, since)
select unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::text[]), unnest($6::bigint[])
on conflict on constraint unclaimed_pkey do nothing
