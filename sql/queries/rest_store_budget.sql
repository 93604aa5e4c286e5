-- $1 project, $2 store, $3 app, $4 environment, $5 endpoint, $6 end of the pause in microseconds
insert into {schema}.store_budgets as b
    (project, store, app, environment, endpoint, used_until, rests_until)
values ($1, $2, $3, $4, $5, 0, $6)
on conflict (project, store, app, environment, endpoint) do update
-- No pause lasts longer than a day, so a much later end was written while a clock was wrong.
set rests_until = case
    when b.rests_until > excluded.rests_until + 90000000000 then excluded.rests_until
    else greatest(b.rests_until, excluded.rests_until)
end
