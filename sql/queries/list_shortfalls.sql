-- 1 shards, 2 positions, 3 chains there: those of them that the log lacks, with where it ends
select known.shard, known.seq, coalesce(s.head, 0)
from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as known (shard, seq, chain)
-- As in lock_shards.
left join lateral (
    select s.head from deed.shards as s where s.shard = known.shard
    order by s.head desc limit 1
) as s on true
where not exists (
    select from deed.events as e
    where e.shard = known.shard and e.seq = known.seq and e.seq <= s.head and e.chain = known.chain
)
order by known.shard
