-- Every instance of the last day, most recently seen first, with the milliseconds since it started
-- and since it was last seen.
select instance, clock.now - started_at, clock.now - seen_at, says
from {schema}.instances
cross join (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now) as clock
order by seen_at desc, instance
limit 1000
