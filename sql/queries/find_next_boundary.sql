-- Each shard's first instant at which something must be published, if any, and its last instant of recording. Both come
-- from a single snapshot, as PublishedInstants requires.
-- $1 shards, $2 instants after which to search
select known.shard, c.next_boundary_at, s.recorded_at
from unnest($1::smallint[], $2::bigint[]) as known (shard, passed)
-- Reads the newest version, as in lock_shards.
cross join lateral (
    select s.recorded_at from {schema}.shards as s where s.shard = known.shard
    order by s.head desc limit 1
) as s
left join lateral (
    select c.next_boundary_at from {schema}.customers as c
    where c.shard = known.shard and c.next_boundary_at > known.passed
    order by c.next_boundary_at limit 1
) as c on true
