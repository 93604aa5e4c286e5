-- 1 project, 2 store, 3 app, 4 environment, 5 original, 6 since, 7 revision, 8 until when it rests
insert into {schema}.histories
    (project, store, app, environment, original, since, revision, rests_until)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::text, $8::bigint)
on conflict (original, project, store, app, environment) do update
set since = excluded.since, revision = excluded.revision, rests_until = excluded.rests_until
