-- 1 shards in ascending order, in which they are locked
select s.shard, s.head, s.chain, s.recorded_at
from unnest($1::smallint[]) as wanted (shard)
-- The newest version, as in advance_shards. After a wait it is the one that the other commit has left.
cross join lateral (
    select * from deed.shards as s where s.shard = wanted.shard
    order by s.head desc limit 1
    for update
) as s
