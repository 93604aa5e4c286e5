-- The chain of the log's first event, which identifies the log.
select e.chain
from generate_series(0, 63) as number
cross join lateral (
    select e.chain, e.recorded_at from deed.events as e
    where e.shard = number::smallint and e.seq = 1
) as e
order by e.recorded_at, number
limit 1
