-- 1 shards
select shard, head, chain, recorded_at
from deed.shards
where shard = any($1::smallint[])
order by shard
for update
