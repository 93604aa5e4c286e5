-- $1 name, $2 whether to start at the end of the log
insert into {schema}.cursors (name, shard, seq)
select $1, s.shard, case when $2 then s.head else 0 end from {schema}.shards as s order by s.shard
on conflict do nothing
returning shard, seq
