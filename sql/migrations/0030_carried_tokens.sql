-- The account tokens that purchases with a holder carry, and that no customer has: once one is a customer's, the
-- purchase may be that customer's. Nothing is here of purchases that stay with their holders all the same: what
-- an admin moved, and what was credited to a balance. It follows from the log.
create table deed.carried_tokens (
    project text not null,
    environment text not null,
    -- A UUID in lower-case.
    token text not null,
    store text not null,
    original text not null,
    app text not null,
    -- Who holds the purchase.
    customer text not null,
    constraint carried_tokens_pkey primary key (token, project, environment, store, original)
);
-- By hash, so that it is never mistaken for the way to a token.
create index carried_tokens_of_customer on deed.carried_tokens using hash (customer);

with facts as (
    select e.project, e.environment, e.customer, e.version, f.fact
    from deed.events as e cross join lateral (
        select e.payload::json where e.type <> 'purchase.attached'
        union all
        select t.fact from json_array_elements(e.payload::json -> 'transactions') as t (fact)
        where e.type = 'purchase.attached'
        union all
        select r.fact from json_array_elements(e.payload::json -> 'renewals') as r (fact)
        where e.type = 'purchase.attached'
    ) as f (fact)
    where e.payload like '%"account_token"%' and not starts_with(e.customer, '$')
), told as (
    select distinct f.project, f.environment, f.customer, f.version,
        lower(f.fact ->> 'account_token') as token, f.fact ->> 'store' as store,
        f.fact ->> 'original' as original
    from facts as f
    where f.fact ->> 'account_token'
        ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
)
insert into deed.carried_tokens (project, environment, token, store, original, app, customer)
select t.project, t.environment, t.token, t.store, t.original, min(h.app), h.customer
from told as t
join deed.holders as h using (project, environment, store, original, customer)
-- How it came to its holder, when it came from another one.
left join lateral (
    select a.version, a.payload::json -> 'cause' ->> 'kind' as kind
    from deed.events as a
    where a.project = t.project and a.environment = t.environment and a.customer = t.customer
        and a.type = 'purchase.attached'
        and a.payload::json ->> 'purchase' = t.store || ':' || t.original
    order by a.version desc limit 1
) as arrival on true
where t.version >= coalesce(arrival.version, 0)
    and coalesce(arrival.kind, '') not in ('admin', 'undone')
    and not exists (
        select from deed.tokens as k
        where k.token = t.token and k.project = t.project and k.environment = t.environment
    ) and not exists (
        select from deed.events as c
        where c.project = t.project and c.environment = t.environment
            and c.customer = t.customer and c.type = 'balance.credited'
            and c.payload::json ->> 'purchase' = t.store || ':' || t.original
    )
group by t.project, t.environment, t.token, t.store, t.original, h.customer
on conflict on constraint carried_tokens_pkey do nothing;

-- As before, and one that purchases with a holder carry that the decision did not see.
create or replace function deed.claim_tokens(
    projects text[], environments text[], tokens text[], customers text[]
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
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
    ) or exists (
        select from unnest(projects, environments, tokens) as new (project, environment, token)
        cross join lateral (
            select from deed.carried_tokens as c
            where c.project = new.project and c.environment = new.environment
                and c.token = new.token
            limit 1
        ) as carried
    ) then
        raise exception 'a purchase waits under an account token'
            using errcode = 'DD006', constraint = 'unclaimed_tokens_pkey';
    end if;
end $$;

-- Writes which tokens without a customer purchases with a holder carry. One that was looked at and a customer
-- has by now is refused: the purchase may be the customer's.
create function deed.carry_tokens(
    projects text[], environments text[], tokens text[], stores text[], originals text[],
    apps text[], customers text[], looked_at boolean[]
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    insert into deed.carried_tokens as c
        (project, environment, token, store, original, app, customer)
    select new.project, new.environment, new.token, new.store, new.original, new.app, new.customer
    from unnest(projects, environments, tokens, stores, originals, apps, customers)
        as new (project, environment, token, store, original, app, customer)
    left join lateral (
        select t.customer from deed.tokens as t
        where t.project = new.project and t.environment = new.environment
            and t.token = new.token
        limit 1
    ) as owner on true
    where owner.customer is null
    order by 3, 1, 2, 4, 5
    on conflict on constraint carried_tokens_pkey
        do update set app = excluded.app, customer = excluded.customer
        where (c.app, c.customer) <> (excluded.app, excluded.customer);
    if exists (
        select from unnest(projects, environments, tokens, looked_at)
            as new (project, environment, token, looked_at)
        cross join lateral (
            select from deed.tokens as t
            where t.project = new.project and t.environment = new.environment
                and t.token = new.token
            limit 1
        ) as known
        where new.looked_at
    ) then
        raise exception 'a customer has the token of a purchase'
            using errcode = 'DD006', constraint = 'tokens_pkey';
    end if;
end $$;

revoke execute on function deed.carry_tokens from public;
grant execute on function deed.carry_tokens to deed_service;
grant select, insert, update, delete on deed.carried_tokens to deed_service;
