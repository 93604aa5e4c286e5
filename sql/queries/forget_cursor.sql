-- 1 name
delete from deed.cursors where name = $1 returning shard
