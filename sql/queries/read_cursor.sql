-- $1 name
select shard, seq from {schema}.cursors where name = $1 order by shard
