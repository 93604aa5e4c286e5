-- 1 name, 2 whether it begins at the end of the log
insert into deed.cursors (name, shard, seq)
select $1, s.shard, case when $2 then s.head else 0 end from deed.shards as s order by s.shard
on conflict do nothing
returning shard, seq
