-- 1 shards, 2 projects, 3 environments, 4 customers, 5 stores, 6 originals
delete from {schema}.purchases as p
using unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as gone (shard, project, environment, customer, store, original)
where (p.shard, p.project, p.environment, p.customer, p.store, p.original)
    = (gone.shard, gone.project, gone.environment, gone.customer, gone.store, gone.original)
