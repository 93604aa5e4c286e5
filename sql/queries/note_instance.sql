-- Deletes instances that have been silent for a day.
-- $1 instance, $2 milliseconds since its start, $3 its report
with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now),
gone as (
    delete from {schema}.instances as old using clock
    where old.seen_at < clock.now - 86400000 and old.instance <> $1::text
)
insert into {schema}.instances (instance, started_at, seen_at, says)
select $1::text, clock.now - $2::bigint, clock.now, $3::text from clock
on conflict (instance) do update set seen_at = excluded.seen_at, says = excluded.says
