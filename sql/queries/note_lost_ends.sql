-- Records the furthest known end of each shard. Replaces a note that was made before the last accepted loss.
-- $1 shards, $2 positions, $3 chains at these positions, $4 number of accepted losses
insert into {schema}.lost_ends as noted (shard, seq, chain, acceptances)
select shard, seq, chain, $4::bigint
from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as own (shard, seq, chain)
order by shard
on conflict (shard) do update
set seq = excluded.seq, chain = excluded.chain, acceptances = excluded.acceptances
where noted.acceptances <> excluded.acceptances or noted.seq < excluded.seq
