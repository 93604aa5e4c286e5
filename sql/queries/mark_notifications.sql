-- $1 project, $2 store, $3 app, $4 environment, $5 instant before which all notifications have been read
insert into {schema}.notification_marks (project, store, app, environment, read_until)
values ($1::text, $2::text, $3::text, $4::text, $5::bigint)
on conflict (project, store, app, environment) do update
set read_until = greatest(notification_marks.read_until, excluded.read_until)
