-- 1 shards, 2 projects, 3 environments, 4 customers, 5 stores, 6 originals, 7 transactions, 8 products
insert into {schema}.waiting_credits (
    shard, project, environment, customer, store, original, transaction_id, product
)
select unnest($1::smallint[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::text[])
on conflict on constraint waiting_credits_pkey do nothing
