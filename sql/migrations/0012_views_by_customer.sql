-- A condition on the customer finds its rows by the tables' own keys. Those lead with the shard, so each view names
-- all that there are; and it compares the column itself, not what is made of it.

create function deed.every_shard() returns smallint[]
language sql immutable parallel safe as $$
    select array_agg(shard::smallint) from generate_series(0, 63) as shard
$$;

create or replace view deed.entitlements as
select c.project, c.environment, c.customer, e.entitlement,
    deed.instant(lower(run)) as starts_at, deed.instant(upper(run)) as ends_at
from deed.customers as c
cross join lateral jsonb_each_text(c.runs) as e (entitlement, runs)
cross join lateral unnest(e.runs::int8multirange) as run
where c.shard = any (deed.every_shard()) and not starts_with(c.customer, '$unclaimed/');

create or replace view deed.subscriptions as
select p.project, p.environment, p.customer, p.store, p.store || ':' || p.original as purchase,
    p.app, p.kind, p.product, deed.instant(p.purchased_at) as purchased_at,
    deed.instant(p.expires_at) as expires_at, deed.instant(p.grace_until) as grace_until,
    deed.instant(p.revoked_at) as revoked_at, p.is_upgraded, p.will_renew, p.next_product,
    p.in_billing_retry
from deed.purchases as p
where p.shard = any (deed.every_shard()) and p.kind in ('auto_renewable', 'non_renewing')
    and not starts_with(p.customer, '$unclaimed/');

create or replace view deed.balances as
select b.project, b.environment, b.customer, b.currency, b.amount
from deed.customer_balances as b
where b.shard = any (deed.every_shard());

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
    select project, environment, null, store, original, app, kind, transactions
    from deed.purchases
    where shard = any (deed.every_shard()) and starts_with(customer, '$unclaimed/')
) as p
cross join lateral json_to_recordset(p.transactions) as t (
    transaction text, product text, quantity bigint, purchased text, expires text,
    upgraded boolean, price bigint, currency text, offer text, discount text, offer_id text,
    offer_period text, ownership text, revoked text, revoked_because text, revoked_extent text,
    revoked_milli_percent bigint, evidence text, signed text
);
