-- Counts the project's events after a place in each shard, up to 10,000 in each.
-- $1 project, $2 shards, $3 places
select count(*)
from unnest($2::smallint[], $3::bigint[]) as p (shard, seq)
cross join lateral (
    select from {schema}.events as e
    where e.project = $1 and e.shard = p.shard and e.seq > p.seq
    limit 10000
) as e
