-- Once every shard is locked, no commit is in progress. Commits lock shards in the same order.
select shard from {schema}.shards order by shard for update
