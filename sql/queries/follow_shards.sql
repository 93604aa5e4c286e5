-- 1 shards, 2 positions that are known, 3 how many events behind each
select known.shard, known.seq, s.head, e.seq, e.project, e.environment, e.customer, e.version, e.type,
    s.chain
from unnest($1::smallint[], $2::bigint[]) as known (shard, seq)
-- The newest version, as in lock_shards.
cross join lateral (
    select s.head, s.chain from {schema}.shards as s where s.shard = known.shard
    order by s.head desc limit 1
) as s
left join lateral (
    select e.seq, e.project, e.environment, e.customer, e.version, e.type
    from {schema}.events as e
    where e.shard = known.shard and e.seq > known.seq and e.seq <= s.head
    order by e.seq
    limit $3::bigint
) as e on true
where s.head <> known.seq
order by known.shard, known.seq, e.seq
