-- 1 shards, 2 projects, 3 environments, 4 customers, 5 stores, 6 originals, 7 transactions
delete from {schema}.waiting_credits as w
using unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]
) as gone (shard, project, environment, customer, store, original, transaction_id)
where (w.shard, w.project, w.customer, w.environment, w.store, w.original, w.transaction_id)
    = (gone.shard, gone.project, gone.customer, gone.environment, gone.store, gone.original,
        gone.transaction_id)
