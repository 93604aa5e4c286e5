-- 1 shards, 2 projects, 3 environments, 4 customers, 5 stores, 6 originals, 7 apps, 8 kinds,
-- 9 products, 10 purchases, 11 expiries, 12 revocations, 13 upgrades, 14 renewals, 15 next products,
-- 16 billing retries, 17 graces, 18 transactions
insert into deed.purchases (
    shard, project, environment, customer, store, original, app, kind, product, purchased_at,
    expires_at, revoked_at, is_upgraded, will_renew, next_product, in_billing_retry, grace_until,
    transactions
)
select shard, project, environment, customer, store, original, app, kind, product, purchased_at,
    expires_at, revoked_at, is_upgraded, will_renew, next_product, in_billing_retry, grace_until,
    transactions::jsonb
from unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::boolean[],
    $14::boolean[], $15::text[], $16::boolean[], $17::bigint[], $18::text[]
) as new (
    shard, project, environment, customer, store, original, app, kind, product, purchased_at,
    expires_at, revoked_at, is_upgraded, will_renew, next_product, in_billing_retry, grace_until,
    transactions
)
on conflict (shard, project, environment, customer, store, original) do update
set app = excluded.app, kind = excluded.kind, product = excluded.product,
    purchased_at = excluded.purchased_at, expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at, is_upgraded = excluded.is_upgraded,
    will_renew = excluded.will_renew, next_product = excluded.next_product,
    in_billing_retry = excluded.in_billing_retry, grace_until = excluded.grace_until,
    transactions = excluded.transactions
