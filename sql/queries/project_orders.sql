-- 1 shards, 2 projects, 3 environments, 4 customers, 5 orders, 6 tokens, 7 products, 8 openings,
-- 9 expiries, 10 purchases that fulfilled them, 11 closings, 12 their causes
insert into {schema}.orders (
    shard, project, environment, customer, order_id, token, product, opened_at, expires_at,
    fulfilled_by, closed_at, closed_because
)
select * from unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::text[]
)
on conflict (shard, project, environment, customer, order_id) do update
set fulfilled_by = excluded.fulfilled_by, closed_at = excluded.closed_at,
    closed_because = excluded.closed_because
