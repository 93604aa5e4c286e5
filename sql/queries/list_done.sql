-- What was last done, when, and how many milliseconds ago.
select what, done_at, clock.now - done_at, says
from {schema}.last_done
cross join (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now) as clock
-- Tasks of operators have names of one word and come first. Of other notes, a part is enough.
order by what like '% %', what
limit 10000
