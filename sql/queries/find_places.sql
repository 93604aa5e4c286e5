-- The last position in each shard that was recorded before an instant. A binary search works, because a shard's
-- instants never decrease.
-- $1 instant
with recursive search (shard, low, high) as (
    select number::smallint, 0::bigint, s.head
    from generate_series(0, 63) as number
    cross join lateral (
        select s.head from {schema}.shards as s where s.shard = number::smallint
        -- Reads the newest version, as in lock_shards.
        order by s.head desc limit 1
    ) as s
    union all
    select search.shard,
        case when middle.recorded_at < $1::bigint then middle.seq else search.low end,
        case when middle.recorded_at < $1::bigint then search.high else middle.seq - 1 end
    from search
    cross join lateral (
        select e.seq, e.recorded_at from {schema}.events as e
        where e.shard = search.shard and e.seq = (search.low + search.high + 1) / 2
    ) as middle
    where search.low < search.high
)
select shard, low from search where low = high order by shard
