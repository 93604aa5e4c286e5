-- The chain at each position in a shard; null if the log has no event at that position.
-- $1 shards, $2 positions
select known.number, e.chain
from unnest($1::smallint[], $2::bigint[]) with ordinality as known (shard, seq, number)
left join lateral (
    select e.chain from {schema}.events as e where e.shard = known.shard and e.seq = known.seq
    limit 1
) as e on true
