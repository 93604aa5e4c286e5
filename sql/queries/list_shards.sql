-- Reads each shard's newest version, as in lock_shards.
select s.shard, s.head, s.chain, s.recorded_at
from generate_series(0, 63) as number
cross join lateral (
    select * from {schema}.shards as s where s.shard = number::smallint
    order by s.head desc limit 1
) as s
