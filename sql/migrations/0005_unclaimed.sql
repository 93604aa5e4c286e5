-- Purchases that wait: for a customer, or for a product of the catalog. All of it follows from the log.

-- What is kept under a reserved name until a customer proves it.
create table deed.unclaimed (
    project text not null,
    environment text not null,
    store text not null,
    original text not null,
    app text not null,
    since bigint not null,
    constraint unclaimed_pkey primary key (project, environment, store, original)
);

-- The account tokens that those purchases carry. The column stands first that tells most rows apart.
create table deed.unclaimed_tokens (
    project text not null,
    environment text not null,
    -- A UUID in lower-case.
    token text not null,
    store text not null,
    original text not null,
    app text not null,
    constraint unclaimed_tokens_pkey primary key (token, project, environment, store, original)
);
-- By hash, so that it is never mistaken for the way to a token.
create index unclaimed_tokens_of_purchase on deed.unclaimed_tokens using hash (original);

-- Transactions that may add to a balance, recorded while the catalog did not know their product.
create table deed.waiting_credits (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    store text not null,
    original text not null,
    transaction_id text not null,
    product text not null,
    constraint waiting_credits_pkey primary key
        (shard, project, customer, environment, store, original, transaction_id)
);

insert into deed.unclaimed (project, environment, store, original, app, since)
select h.project, h.environment, h.store, h.original, min(h.app), min(e.recorded_at)
from deed.holders as h
join deed.events as e using (customer, project, environment)
where starts_with(h.customer, '$unclaimed/')
group by h.project, h.environment, h.store, h.original;

insert into deed.unclaimed_tokens (project, environment, token, store, original, app)
select distinct u.project, u.environment, lower(e.payload::json ->> 'account_token'), u.store,
    u.original, u.app
from deed.unclaimed as u
join deed.events as e on e.customer = '$unclaimed/' || u.store || ':' || u.original
    and e.project = u.project and e.environment = u.environment
where e.payload::json ->> 'account_token'
    ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

with known as (
    select distinct on (e.project) e.project, e.payload::json -> 'catalog' -> 'products' as products
    from deed.events as e
    where e.customer = '$project/' and e.environment = 'production' and e.type = 'catalog.changed'
    order by e.project, e.version desc
), sold as (
    select k.project, coalesce(p ->> 'store', 'apple') as store, p ->> 'id' as product
    from known as k cross join lateral json_array_elements(k.products) as p
)
insert into deed.waiting_credits
select p.shard, p.project, p.environment, p.customer, p.store, p.original, t ->> 'transaction',
    t ->> 'product'
from deed.purchases as p cross join lateral json_array_elements(p.transactions) as t
where coalesce(p.kind, 'consumable') = 'consumable' and not starts_with(p.customer, '$unclaimed/')
    and not exists (
        select from sold as s
        where s.project = p.project and s.store = p.store and s.product = t ->> 'product'
    );

-- Keeps a commit that gives a token to a customer and one that keeps a purchase under a token without an
-- owner from passing each other unseen: the second one waits, and sees what the first one wrote. The
-- locks are taken in one order, so that two commits never wait for each other.
create function deed.guard_tokens(given text[], awaited text[]) returns void language plpgsql as $$
declare
    bucket integer;
    is_awaited boolean;
begin
    for bucket, is_awaited in
        select hash, bool_or(waits) from (
            select hashtext(token) & 255, false from unnest(given) as token
            union all
            select hashtext(token) & 255, true from unnest(awaited) as token
        ) as wanted (hash, waits)
        group by hash order by hash
    loop
        -- Many may give tokens at once: their own keys keep those apart.
        if is_awaited then
            perform pg_advisory_xact_lock(4919504, bucket);
        else
            perform pg_advisory_xact_lock_shared(4919504, bucket);
        end if;
    end loop;
end $$;

-- Writes whose account tokens are. A token of another customer is refused, and so is one under which
-- purchases wait that the decision did not see.
create or replace function deed.claim_tokens(
    projects text[], environments text[], tokens text[], customers text[]
) returns void language plpgsql as $$
begin
    insert into deed.tokens (project, environment, token, customer)
    select * from unnest(projects, environments, tokens, customers)
    order by 1, 2, 3
    on conflict on constraint tokens_pkey do nothing;
    if exists (
        select from unnest(projects, environments, tokens, customers)
            as new (project, environment, token, customer)
        -- One by one, as in load_holders.
        cross join lateral (
            select t.customer from deed.tokens as t
            where t.project = new.project and t.environment = new.environment
                and t.token = new.token
            limit 1
        ) as known
        where known.customer <> new.customer
    ) then
        raise exception 'another customer has an account token'
            using errcode = 'DD005', constraint = 'tokens_pkey';
    end if;
    if exists (
        select from unnest(projects, environments, tokens) as new (project, environment, token)
        cross join lateral (
            select from deed.unclaimed_tokens as u
            where u.project = new.project and u.environment = new.environment
                and u.token = new.token
            limit 1
        ) as waiting
    ) then
        raise exception 'a purchase waits under an account token'
            using errcode = 'DD006', constraint = 'unclaimed_tokens_pkey';
    end if;
end $$;

-- Writes under which tokens purchases wait. A token that a customer has by now is refused: the purchase
-- is the customer's.
create function deed.await_tokens(
    projects text[], environments text[], tokens text[], stores text[], originals text[],
    apps text[]
) returns void language plpgsql as $$
begin
    insert into deed.unclaimed_tokens (project, environment, token, store, original, app)
    select * from unnest(projects, environments, tokens, stores, originals, apps)
    on conflict on constraint unclaimed_tokens_pkey do nothing;
    if exists (
        select from unnest(projects, environments, tokens) as new (project, environment, token)
        cross join lateral (
            select from deed.tokens as t
            where t.project = new.project and t.environment = new.environment
                and t.token = new.token
            limit 1
        ) as known
    ) then
        raise exception 'a customer has the token of a purchase'
            using errcode = 'DD006', constraint = 'tokens_pkey';
    end if;
end $$;

revoke execute on function deed.guard_tokens, deed.claim_tokens, deed.await_tokens from public;
grant execute on function deed.guard_tokens, deed.claim_tokens, deed.await_tokens to deed_service;
grant select, insert, update, delete
    on deed.unclaimed, deed.unclaimed_tokens, deed.waiting_credits to deed_service;
