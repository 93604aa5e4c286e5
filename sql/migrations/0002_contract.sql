-- What other programs may read and join: names and columns here stay as they are. Instants are
-- timestamps, and what has no end has a null.

create function deed.instant(milliseconds bigint) returns timestamptz
language sql immutable strict parallel safe as $$
    select 'epoch'::timestamptz + milliseconds / 1000 * interval '1 second'
        + milliseconds % 1000 * interval '1 millisecond'
$$;

-- FNV-1a modulo 64 needs no more than the lowest six bits of each step.
create function deed.shard_of(project text, environment text, customer text) returns smallint
language plpgsql immutable strict parallel safe as $$
declare
    bytes constant bytea := convert_to(project, 'UTF8') || '\x00' || convert_to(environment, 'UTF8')
        || '\x00' || convert_to(customer, 'UTF8');
    hash integer := 37;
begin
    for place in 0 .. octet_length(bytes) - 1 loop
        hash := ((hash # get_byte(bytes, place)) & 63) * 51 & 63;
    end loop;
    return hash;
end $$;

-- The unbroken runs of access to each entitlement, over all of its sources.
create view deed.entitlements as
select c.project, c.environment, c.customer, e.entitlement,
    deed.instant(lower(run)) as starts_at, deed.instant(upper(run)) as ends_at
from deed.customers as c
cross join lateral jsonb_each_text(c.runs) as e (entitlement, runs)
cross join lateral unnest(e.runs::int8multirange) as run
where not starts_with(c.customer, '$unclaimed/');

create view deed.subscriptions as
select p.project, p.environment, p.customer, p.store, p.original as purchase, p.app, p.kind,
    p.product, deed.instant(p.purchased_at) as purchased_at,
    deed.instant(p.expires_at) as expires_at, deed.instant(p.grace_until) as grace_until,
    deed.instant(p.revoked_at) as revoked_at, p.is_upgraded, p.will_renew, p.next_product,
    p.in_billing_retry
from deed.purchases as p
where p.kind in ('auto_renewable', 'non_renewing')
    and not starts_with(p.customer, '$unclaimed/');

create view deed.balances as
select b.project, b.environment, b.customer, b.currency, b.amount
from deed.customer_balances as b;

-- Whether the customer may use the entitlement at an instant; the same answer as the service's.
create function deed.entitled(
    project text, customer text, entitlement text, at timestamptz default now(),
    environment text default 'production'
) returns boolean language sql stable parallel safe
-- With the owner's rights: who may call it need not be able to read the table.
security definer set search_path = pg_catalog as $$
    select coalesce(
        (
            select (c.runs ->> $3)::int8multirange @> floor(extract(epoch from $4) * 1000)::bigint
            from deed.customers as c
            where c.shard = deed.shard_of($1, $5, $2)
                and c.project = $1 and c.environment = $5 and c.customer = $2
        ),
        false)
$$;

-- Writes which projects have apps. An app of another project is refused.
create function deed.claim_apps(
    stores text[], apps text[], projects text[], apple_ids bigint[], judges text[],
    counting boolean[]
) returns void language plpgsql as $$
begin
    insert into deed.apps as known (store, app, project, apple_id, receipts, counts_sandbox)
    select * from unnest(stores, apps, projects, apple_ids, judges, counting)
    on conflict on constraint apps_pkey do update
    set apple_id = excluded.apple_id, receipts = excluded.receipts,
        counts_sandbox = excluded.counts_sandbox
    where known.project = excluded.project;
    if exists (
        select from unnest(stores, apps, projects) as new (store, app, project)
        join deed.apps as known using (store, app)
        where known.project <> new.project
    ) then
        raise exception 'another project has an app'
            using errcode = 'DD003', constraint = 'apps_pkey';
    end if;
end $$;

-- Writes whose orders are. An order id of another customer is refused.
create function deed.claim_orders(
    projects text[], environments text[], orders text[], customers text[]
) returns void language plpgsql as $$
begin
    insert into deed.order_owners (project, environment, order_id, customer)
    select * from unnest(projects, environments, orders, customers)
    -- In one order, so that two who write the same ones wait and never lock each other.
    order by 1, 2, 3
    on conflict on constraint order_owners_pkey do nothing;
    if exists (
        select from unnest(projects, environments, orders, customers)
            as new (project, environment, order_id, customer)
        -- One by one, as in load_holders.
        cross join lateral (
            select o.customer from deed.order_owners as o
            where o.project = new.project and o.environment = new.environment
                and o.order_id = new.order_id
            limit 1
        ) as known
        where known.customer <> new.customer
    ) then
        raise exception 'another customer has an order of that id'
            using errcode = 'DD004', constraint = 'order_owners_pkey';
    end if;
end $$;

-- Writes whose account tokens are. A token of another customer is refused.
create function deed.claim_tokens(
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
end $$;

revoke execute on function deed.claim_apps, deed.claim_orders, deed.claim_tokens
    from public;
grant execute on function deed.claim_apps, deed.claim_orders, deed.claim_tokens
    to deed_service;
grant select on deed.entitlements, deed.subscriptions, deed.balances to deed_service;
