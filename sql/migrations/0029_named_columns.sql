-- Each column of each part has its name: the view of a restored dump is then written as this one is.
create or replace view deed.transactions as
select p.project, p.environment, p.customer, p.store, p.store || ':' || p.original as purchase,
    t.transaction, p.app, t.product, p.kind,
    t.quantity, deed.instant(t.purchased) as purchased_at, deed.instant(t.expires) as expires_at,
    coalesce(t.upgraded, false) as is_upgraded, trim_scale(t.price * 0.001) as price, t.currency, t.offer,
    t.discount, t.offer_id, t.offer_period, coalesce(t.ownership, 'purchased') as ownership,
    deed.instant(t.revoked) as revoked_at, t.revoked_because,
    t.revoked_extent, trim_scale(t.revoked_milli_percent * 0.00001) as revoked_share,
    t.evidence, deed.instant(t.signed) as signed_at
from (
    select project, environment, customer, store, original, app, kind, transactions
    from deed.purchases
    where shard = any (deed.every_shard()) and not starts_with(customer, '$unclaimed/')
    union all
    select project, environment, null as customer, store, original, app, kind, transactions
    from deed.purchases
    where shard = any (deed.every_shard()) and starts_with(customer, '$unclaimed/')
) as p
cross join lateral json_to_recordset(p.transactions) as t (
    transaction text, product text, quantity bigint, purchased text, expires text,
    upgraded boolean, price bigint, currency text, offer text, discount text, offer_id text,
    offer_period text, ownership text, revoked text, revoked_because text, revoked_extent text,
    revoked_milli_percent bigint, evidence text, signed text
);
