-- Purchases have the same name here as everywhere else: apple:2000000123.
create or replace view deed.subscriptions as
select p.project, p.environment, p.customer, p.store, p.store || ':' || p.original as purchase,
    p.app, p.kind, p.product, deed.instant(p.purchased_at) as purchased_at,
    deed.instant(p.expires_at) as expires_at, deed.instant(p.grace_until) as grace_until,
    deed.instant(p.revoked_at) as revoked_at, p.is_upgraded, p.will_renew, p.next_product,
    p.in_billing_retry
from deed.purchases as p
where p.kind in ('auto_renewable', 'non_renewing')
    and not starts_with(p.customer, '$unclaimed/');
