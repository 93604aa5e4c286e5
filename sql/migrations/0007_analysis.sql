-- What else other programs may read and join: names and columns here stay as they are, too.

-- Years that a timestamp cannot hold are its infinities.
create function deed.instant(written text) returns timestamptz
language sql stable strict parallel safe as $$
    select case
        when written like '-%' or written like '0000%' then '-infinity'
        when written like '+%' then 'infinity'
        else written
    end::timestamptz
$$;

-- So that grants are found in the log without reading all of it. Narrow, and filled at the end of each
-- shard: it costs a grant less than a row of a table would.
create index events_of_grants on deed.events (shard, seq)
    where type in ('grant.given', 'grant.revoked', 'customer.erased');

create view deed.transactions as
select p.project, p.environment,
    case when not starts_with(p.customer, '$unclaimed/') then p.customer end as customer,
    p.store, p.store || ':' || p.original as purchase, t.transaction, p.app, t.product, p.kind,
    t.quantity, deed.instant(t.purchased) as purchased_at, deed.instant(t.expires) as expires_at,
    coalesce(t.upgraded, false) as is_upgraded, trim_scale(t.price * 0.001) as price, t.currency, t.offer,
    t.discount, t.offer_id, t.offer_period, coalesce(t.ownership, 'purchased') as ownership,
    deed.instant(t.revoked) as revoked_at, t.revoked_because,
    t.revoked_extent, trim_scale(t.revoked_milli_percent * 0.00001) as revoked_share,
    t.evidence, deed.instant(t.signed) as signed_at
from deed.purchases as p
cross join lateral json_to_recordset(p.transactions) as t (
    transaction text, product text, quantity bigint, purchased text, expires text,
    upgraded boolean, price bigint, currency text, offer text, discount text, offer_id text,
    offer_period text, ownership text, revoked text, revoked_because text, revoked_extent text,
    revoked_milli_percent bigint, evidence text, signed text
);

-- What was paid back. A family member who loses access was paid nothing.
create view deed.refunds as
select t.project, t.environment, t.customer, t.store, t.purchase, t.transaction, t.app, t.product,
    t.kind, t.purchased_at, t.revoked_at as refunded_at, t.revoked_because as because,
    coalesce(t.revoked_share, 1) as share, trim_scale(t.price * coalesce(t.revoked_share, 1)) as amount,
    t.currency, t.evidence, t.signed_at
from deed.transactions as t
where t.revoked_at is not null and t.ownership = 'purchased'
    and t.revoked_extent is distinct from 'family';

-- What lies beyond the head of its shard is no part of the log.
create view deed.grants as
select given.project, given.environment, given.customer, wish.grant_id, wish.entitlement,
    deed.instant(wish.starts) as starts_at, deed.instant(wish.ends) as ends_at, wish.reason,
    wish.ticket, deed.instant(given.recorded_at) as given_at, given.actor as given_by,
    revoked.at as revoked_at, revoked.by as revoked_by, revoked.reason as revoked_because,
    revoked.ticket as revoked_ticket
from deed.events as given
cross join lateral (
    select g ->> 'grant' as grant_id, g ->> 'entitlement' as entitlement, g ->> 'start' as starts,
        g ->> 'end' as ends, g ->> 'reason' as reason, g ->> 'ticket' as ticket
    from (select given.payload::json as g) as parsed
) as wish
left join (
    select r.customer, r.project, r.environment, r.version, r.actor as by,
        r.payload::json ->> 'grant' as grant_id, deed.instant(r.payload::json ->> 'at') as at,
        r.payload::json ->> 'reason' as reason, r.payload::json ->> 'ticket' as ticket
    from deed.events as r
    join deed.shards as s on s.shard = r.shard
    where r.type = 'grant.revoked' and r.seq <= s.head
) as revoked
    on revoked.customer = given.customer and revoked.project = given.project
    and revoked.environment = given.environment and revoked.grant_id = wish.grant_id
    and revoked.version > given.version
join deed.shards as s on s.shard = given.shard
where given.type = 'grant.given' and given.seq <= s.head
    and not exists (
        select from deed.events as erased
        where erased.type = 'customer.erased' and erased.customer = given.customer
            and erased.project = given.project and erased.environment = given.environment
            and erased.version > given.version and erased.seq <= s.head
    );

-- What the catalog of now sells.
create view deed.products as
select p.project, coalesce(sold ->> 'store', 'apple') as store, sold ->> 'id' as product,
    sold ->> 'kind' as kind,
    array(select json_array_elements_text(sold -> 'entitlements')) as entitlements,
    sold -> 'credits' as credits, sold ->> 'duration' as duration, sold ->> 'stacking' as stacking,
    sold ->> 'group' as subscription_group, (sold ->> 'level')::bigint as level,
    coalesce((sold ->> 'family_shared')::boolean, true) as is_family_shared,
    p.catalog_version, deed.instant(newest.recorded_at) as since
from deed.projects as p
cross join lateral (
    select e.payload, e.recorded_at
    from deed.events as e
    join deed.shards as s on s.shard = e.shard and e.seq <= s.head
    where e.customer = '$project/' and e.project = p.project and e.environment = 'production'
        and e.type = 'catalog.changed'
    order by e.version desc
    limit 1
) as newest
cross join lateral json_array_elements(newest.payload::json -> 'catalog' -> 'products') as sold;

grant select on deed.transactions, deed.refunds, deed.grants, deed.products to deed_service;

-- Transactions hold more than before: their rows are written anew from the log.
update deed.projects set projected_version = -1;
update deed.customers set catalog_version = -1;
