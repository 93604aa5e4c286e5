-- Grants that wait until nothing else gives their entitlement: how long each lasts from then on, as in 'P30D'. Its start
-- is when it began to wait; when it begins follows from the facts, and deed.entitlements has what comes of it.
alter table deed.customer_grants add column after_current text;

-- Since when support lets a purchase give no access; null where it does.
alter table deed.purchases add column blocked_at bigint;

-- What was given to whom, the newest first; and for which ticket. The first begins with what no other statement compares,
-- so that none takes it for a way to a customer's rows.
create index customer_grants_given on deed.customer_grants ((project || '/' || environment), given_at, grant_id);
create index customer_grants_ticket on deed.customer_grants (ticket, project, environment, given_at, grant_id)
    where ticket is not null;

create or replace view deed.grants as
select g.project, g.environment, g.customer, g.grant_id, g.entitlement,
    deed.instant(g.starts_at) as starts_at, deed.instant(g.ends_at) as ends_at, g.reason, g.ticket,
    deed.instant(g.given_at) as given_at, g.given_by, deed.instant(g.revoked_at) as revoked_at,
    g.revoked_by, g.revoked_because, g.revoked_ticket, g.after_current
from deed.customer_grants as g
where g.shard = any (deed.every_shard());

create or replace view deed.subscriptions as
select p.project, p.environment, p.customer, p.store, p.store || ':' || p.original as purchase,
    p.app, p.kind, p.product, deed.instant(p.purchased_at) as purchased_at,
    deed.instant(p.expires_at) as expires_at, deed.instant(p.grace_until) as grace_until,
    deed.instant(p.revoked_at) as revoked_at, p.is_upgraded, p.will_renew, p.next_product,
    p.in_billing_retry, deed.instant(p.blocked_at) as blocked_at
from deed.purchases as p
where p.shard = any (deed.every_shard()) and p.kind in ('auto_renewable', 'non_renewing')
    and not starts_with(p.customer, '$unclaimed/');
