-- $1 shards, in the ascending order in which they are locked, $2 known heads of the shards
select s.shard, s.head, s.chain, s.recorded_at,
    (extract(epoch from clock_timestamp()) * 1000)::bigint
from unnest($1::smallint[], $2::bigint[]) as wanted (shard, seen)
-- This is the newest row version, as in advance_shards. After a wait for another commit, it is that commit's version.
cross join lateral (
    select * from {schema}.shards as s
    -- Few entries follow the known head, whereas a page of the index holds hundreds for the shard.
    where s.shard = wanted.shard and s.head >= wanted.seen
    order by s.head desc limit 1
    for update
) as s
