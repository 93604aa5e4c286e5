-- 1 shards
select shard, head from deed.shards where shard = any($1::smallint[])
