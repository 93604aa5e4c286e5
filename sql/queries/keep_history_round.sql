-- $1 project, $2 store, $3 app, $4 whether the round is filled, $5 whether it is slow, $6 whether any round was ever
-- complete
insert into {schema}.history_rounds (project, store, app, is_filled, is_slow, was_whole)
values ($1::text, $2::text, $3::text, $4::boolean, $5::boolean, $6::boolean)
on conflict (project, store, app) do update
set is_filled = excluded.is_filled, is_slow = excluded.is_slow, was_whole = excluded.was_whole
