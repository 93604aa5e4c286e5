-- $1 name, $2 shards, $3 places, $4 the lease's name, $5 its fence
with held as materialized (
    -- Keeps other instances from taking the lease until the transaction ends.
    select from {schema}.leases where name = $4 and fence = $5 for share
)
update {schema}.cursors as c set seq = n.seq
from unnest($2::smallint[], $3::bigint[]) as n (shard, seq)
where c.name = $1 and c.shard = n.shard and exists (select from held)
returning c.shard
