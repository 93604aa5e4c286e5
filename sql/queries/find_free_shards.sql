-- Returns the shards that no session has locked.
-- $1 shards
select s.shard
from unnest($1::smallint[]) as wanted (shard)
cross join lateral (
    select s.shard from {schema}.shards as s
    -- Reads the newest version, as in lock_shards.
    where s.shard = wanted.shard
    order by s.head desc limit 1
    for update skip locked
) as s
