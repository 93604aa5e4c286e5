-- The chains of the shards' first events, which identify the log, earliest first. Instances' clocks differ, so a shard's
-- first event may be earlier than one that was written before it. Events beyond the head do not belong to the log.
select e.chain
from generate_series(0, 63) as number
cross join lateral (
    -- Reads the newest version, as in lock_shards.
    select s.head from {schema}.shards as s where s.shard = number::smallint
    order by s.head desc limit 1
) as s
cross join lateral (
    select e.chain, e.recorded_at from {schema}.events as e
    where e.shard = number::smallint and e.seq = 1 and s.head >= 1
) as e
order by e.recorded_at, number
