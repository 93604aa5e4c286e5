-- Each task, when it was last done, and how many milliseconds ago.
select what, done_at, clock.now - done_at, says
from {schema}.last_done
cross join (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now) as clock
-- Operators' tasks have one-word names and come first, so that the limit cuts off only other notes.
order by what like '% %', what
limit 10000
