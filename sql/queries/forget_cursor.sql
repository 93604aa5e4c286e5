-- $1 name
delete from {schema}.cursors where name = $1 returning shard
