-- 1 shards in ascending order, in which they are locked, 2 heads that were seen of them
select s.shard, s.head, s.chain, s.recorded_at,
    (extract(epoch from clock_timestamp()) * 1000)::bigint
from unnest($1::smallint[], $2::bigint[]) as wanted (shard, seen)
-- The newest version, as in advance_shards. After a wait it is the one that the other commit has left.
cross join lateral (
    select * from {schema}.shards as s
    -- Behind what was seen there are few entries, where a page of the index holds hundreds of the shard.
    where s.shard = wanted.shard and s.head >= wanted.seen
    order by s.head desc limit 1
    for update
) as s
