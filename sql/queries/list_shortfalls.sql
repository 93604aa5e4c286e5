-- Returns the positions that the log lacks, each with the shard's end. Also returns the lost ends that instances noted,
-- each with the number of losses that had been accepted before the note.
-- $1 shards, $2 positions, $3 chains at these positions
select known.shard, known.seq, known.chain, coalesce(s.head, 0), known.acceptances
from (
    select own.shard, own.seq, own.chain, null::bigint as acceptances
    from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as own (shard, seq, chain)
    union all
    select noted.shard, noted.seq, noted.chain, noted.acceptances from {schema}.lost_ends as noted
) as known
-- Reads the newest version, as in lock_shards.
left join lateral (
    select s.head from {schema}.shards as s where s.shard = known.shard
    order by s.head desc limit 1
) as s on true
where not exists (
    select from {schema}.events as e
    where e.shard = known.shard and e.seq = known.seq and e.seq <= s.head and e.chain = known.chain
)
order by known.shard
