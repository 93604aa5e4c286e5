-- By what somebody finds a customer.

-- The beginning of a customer's id. By bytes, in which no other statement compares, so that none takes it for another way.
create index customers_named on deed.customers
    (project collate "C", environment collate "C", customer collate "C")
    where not starts_with(customer, '$unclaimed/');

-- By hash, so that it is never mistaken for the way to a customer's rows.
create index customer_grants_named on deed.customer_grants using hash (grant_id);

-- The names of transactions that the id of their purchase does not tell, and who holds the purchase. Follows from the log.
create table deed.transaction_names (
    project text not null,
    environment text not null,
    store text not null,
    app text not null,
    original text not null,
    transaction_id text not null,
    customer text not null,
    -- The store's name for a period of a subscription.
    line_item text,
    constraint transaction_names_pkey
        primary key (transaction_id, project, environment, store, app, original)
);
create index transaction_names_line_item on deed.transaction_names (line_item, project, environment)
    where line_item is not null;

insert into deed.transaction_names
select h.project, h.environment, h.store, h.app, h.original, f.transaction_id, h.customer, f.line_item
from (
    select e.project, e.environment, p.fact ->> 'store' as store, p.fact ->> 'app' as app,
        p.fact ->> 'original' as original, p.fact ->> 'transaction' as transaction_id,
        max(p.fact ->> 'line_item') as line_item
    from deed.events as e
    join deed.shards as s on s.shard = e.shard and e.seq <= s.head
    cross join lateral (select e.payload::json as fact) as p
    where e.type in ('purchase.made', 'subscription.renewed', 'subscription.upgraded', 'subscription.extended',
        'purchase.refunded', 'purchase.revoked', 'refund.reversed', 'purchase.restated')
    group by 1, 2, 3, 4, 5, 6
) as f
join deed.holders as h
    on h.project = f.project and h.environment = f.environment and h.store = f.store and h.app = f.app
        and h.original = f.original
where f.transaction_id <> f.original or f.line_item is not null;

grant select, insert, update, delete on deed.transaction_names to deed_service;
