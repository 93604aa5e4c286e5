-- 1 project, 2 store, 3 app, 4 environment, 5 original, 6 customer, 7 newest purchase, 8 obstacle
insert into {schema}.history_questions
    (project, store, app, environment, original, customer, newest_at, obstacle)
values (
    $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bigint, left($8::text, 1000))
on conflict (original, project, store, app, environment) do update
set obstacle = excluded.obstacle
