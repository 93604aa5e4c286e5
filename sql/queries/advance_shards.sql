-- $1 shards, $2 previous heads, $3 new heads, $4 chains, $5 instants of recording
update {schema}.shards as s
set head = new.head, chain = new.chain, recorded_at = new.recorded_at
from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])
    as new (shard, head_before, head, chain, recorded_at)
-- The head is also compared, because a search by shard alone would read every row version that a snapshot still holds.
where s.shard = new.shard and s.head = new.head_before
