select shard, head, chain from deed.shards order by shard
