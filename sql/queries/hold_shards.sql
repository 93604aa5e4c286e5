-- No commit is in progress once every shard is locked, in the order in which commits lock them.
select shard from {schema}.shards order by shard for update
