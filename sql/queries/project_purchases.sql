-- 1 shards, 2 projects, 3 environments, 4 customers, 5 stores, 6 originals, 7 apps, 8 kinds,
-- 9 products, 10 purchases, 11 expiries, 12 revocations, 13 upgrades, 14 renewals, 15 next products,
-- 16 billing retries, 17 graces, 18 transactions
insert into {schema}.purchases (
    shard, project, environment, customer, store, original, app, kind, product, purchased_at,
    expires_at, revoked_at, is_upgraded, will_renew, next_product, in_billing_retry, grace_until,
    transactions
)
-- Row by row, as in insert_events.
select unnest($1::smallint[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::text[]),
    unnest($9::text[]), unnest($10::bigint[]), unnest($11::bigint[]), unnest($12::bigint[]),
    unnest($13::boolean[]), unnest($14::boolean[]), unnest($15::text[]), unnest($16::boolean[]),
    unnest($17::bigint[]), unnest($18::text[])::json
on conflict (shard, project, environment, customer, store, original) do update
set app = excluded.app, kind = excluded.kind, product = excluded.product,
    purchased_at = excluded.purchased_at, expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at, is_upgraded = excluded.is_upgraded,
    will_renew = excluded.will_renew, next_product = excluded.next_product,
    in_billing_retry = excluded.in_billing_retry, grace_until = excluded.grace_until,
    transactions = excluded.transactions
