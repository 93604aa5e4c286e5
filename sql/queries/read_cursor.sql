-- 1 name
select shard, seq from deed.cursors where name = $1 order by shard
