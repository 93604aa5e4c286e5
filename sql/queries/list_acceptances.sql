select e.format, e.payload, e.recorded_at
from {schema}.projects as p
cross join lateral (
    select e.format, e.payload, e.recorded_at, e.shard, e.seq from {schema}.events as e
    where e.project = p.project and e.environment = 'production' and e.customer = '$project/'
        and e.type = 'log.accepted'
) as e
-- Reads the newest version, as in lock_shards. An acceptance beyond the head does not count.
cross join lateral (
    select s.head from {schema}.shards as s where s.shard = e.shard
    order by s.head desc limit 1
) as s
where e.seq between 1 and s.head
