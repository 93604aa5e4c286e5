-- $1 name of the task, $2 report
insert into {schema}.last_done (what, done_at, says)
values ($1::text, (extract(epoch from clock_timestamp()) * 1000)::bigint, $2::text)
on conflict (what) do update set done_at = excluded.done_at, says = excluded.says
