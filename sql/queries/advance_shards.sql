-- 1 shards, 2 heads, 3 chains, 4 instants of recording
update deed.shards as s
set head = new.head, chain = new.chain, recorded_at = new.recorded_at
from unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bigint[])
    as new (shard, head, chain, recorded_at)
where s.shard = new.shard
