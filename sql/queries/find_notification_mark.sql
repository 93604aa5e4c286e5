-- $1 project, $2 store, $3 app, $4 environment
select read_until from {schema}.notification_marks
where project = $1::text and store = $2::text and app = $3::text and environment = $4::text
