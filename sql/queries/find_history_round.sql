-- $1 project, $2 store, $3 app
select is_filled, is_slow, was_whole from {schema}.history_rounds
where project = $1::text and store = $2::text and app = $3::text
