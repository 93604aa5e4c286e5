-- $1 shard, $2 head, $3 chain
insert into {schema}.proven (shard, head, chain) values ($1::smallint, $2::bigint, $3::bytea)
on conflict (shard) do update set head = excluded.head, chain = excluded.chain
