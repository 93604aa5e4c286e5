-- $1 project, $2 store, $3 app, $4 environment, $5 original
delete from {schema}.history_questions
where original = $5::text and project = $1::text and store = $2::text and app = $3::text
    and environment = $4::text
