-- 1 shards, 2 projects, 3 environments, 4 customers, 5 versions, 6 next changes
insert into deed.customers (shard, project, environment, customer, version, next_change_at)
select * from unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]
)
on conflict (shard, project, environment, customer) do update
set version = excluded.version, next_change_at = excluded.next_change_at
