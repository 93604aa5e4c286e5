-- 1 shards, 2 positions, 3 chains there, 4 how many losses have been accepted. Of one shard the furthest end counts,
-- and what was noted before a loss was accepted does not.
insert into {schema}.lost_ends as noted (shard, seq, chain, acceptances)
select shard, seq, chain, $4::bigint
from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as own (shard, seq, chain)
order by shard
on conflict (shard) do update
set seq = excluded.seq, chain = excluded.chain, acceptances = excluded.acceptances
where noted.acceptances <> excluded.acceptances or noted.seq < excluded.seq
