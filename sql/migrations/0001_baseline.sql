-- The schema of 0.1.0. Instants are milliseconds since 1970 UTC.
--
-- The log is the truth. What follows from it is written in the same commit, and can be written anew from it; what
-- does not follow from it says so. Each part names its constraints as errors and statements know them.
--
-- A function runs what its names lead to. PostgreSQL looks into pg_temp first unless a search path names it, so
-- every function names it last, or has a body that was read when the function was made and looks for nothing
-- when it is called. No function but deed.standbys runs with the owner's rights.

-- ---- The log -------------------------------------------------------------------------------------------------

-- Where each shard of the log ends. Each commit writes its shards' rows anew. While a session holds an old snapshot
-- (a dump, an analyst), none of the versions before can be removed, and a key of the shard alone would lead to all
-- of them. With the head behind it, the newest version is the last entry of its shard: it is found at once.
create table deed.shards (
    shard smallint not null check (shard between 0 and 63),
    head bigint not null default 0 check (head >= 0),
    chain bytea not null check (octet_length(chain) = 32),
    -- Never runs backwards, whatever the clocks of the writers do.
    recorded_at bigint not null default 0,
    constraint shards_pkey primary key (shard, head)
) with (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

insert into deed.shards (shard, chain)
select number, decode(repeat('00', 32), 'hex') from generate_series(0, 63) as number;

-- Few checks, because each is read anew by every statement that inserts: those that the chain and its readers
-- rely on. Everything else is checked by the writer, which only the service may be.
create table deed.events (
    shard smallint not null,
    -- No head covers what lies before the first position.
    seq bigint not null constraint events_seq_check check (seq > 0),
    project text not null,
    environment text not null,
    customer text not null,
    version bigint not null,
    type text not null,
    payload text not null
        constraint events_payload_check check (octet_length(payload) <= 1048576),
    digest bytea not null,
    chain bytea not null,
    occurred_at bigint not null,
    recorded_at bigint not null,
    actor text not null,
    cause text not null,
    cause_index smallint not null,
    cause_digest bytea not null,
    catalog_version bigint not null,
    -- The digest of the evidence on which the event rests.
    evidence bytea,
    -- Which form of its type's payload it has.
    format smallint not null constraint events_format_check check (format > 0),
    constraint events_digests_check
        check (octet_length(digest) = 32 and octet_length(chain) = 32
            and octet_length(cause_digest) = 32),
    constraint events_pkey primary key (shard, seq),
    -- The customer stands first: it tells most rows apart at once. The shard, which follows from the
    -- rest, stands last and is not asked for when a stream is read: with nothing known of a young
    -- table the primary key would look as good, and be kept in plans that then read whole shards.
    constraint events_version_key unique (customer, project, environment, version, shard)
);
-- So that one project is followed without reading what is others'. It is filled at the end of a shard's part, too.
create index events_of_project on deed.events (project, shard, seq);

-- What lay beyond the head of its shard and was moved aside: it never was a part of the log.
create table deed.quarantined_events (
    like deed.events,
    head bigint not null,
    quarantined_at bigint not null,
    quarantined_by text not null
);

create function deed.refuse_change() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception 'the log only grows: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'append an event that corrects the earlier one';
end $$;

create function deed.refuse_change_of_log() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    -- The owner may move aside what no head covers.
    if tg_op = 'DELETE' and (old.seq < 1 or old.shard not between 0 and 63 or old.seq > (
        select s.head from deed.shards as s where s.shard = old.shard order by s.head desc limit 1
    )) then
        return old;
    end if;
    raise exception 'the log only grows: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'append an event that corrects the earlier one';
end $$;

create trigger events_only_grow before update or delete on deed.events
    for each row execute function deed.refuse_change_of_log();
create trigger events_are_not_emptied before truncate on deed.events
    for each statement execute function deed.refuse_change();
alter table deed.events enable always trigger events_only_grow;
alter table deed.events enable always trigger events_are_not_emptied;

create trigger shards_only_grow before update on deed.shards
    for each row when (new.head < old.head) execute function deed.refuse_change();
create trigger shards_stay before delete on deed.shards
    for each row execute function deed.refuse_change();
create trigger shards_are_not_emptied before truncate on deed.shards
    for each statement execute function deed.refuse_change();
-- One row for each shard, which the key does not say.
create trigger shards_are_complete before insert on deed.shards
    for each row execute function deed.refuse_change();

-- ---- Evidence ------------------------------------------------------------------------------------------------

-- What the stores signed, kept so that it can be proven again without them. Unlike what is projected,
-- it does not follow from the log: the log follows from it.

-- Most evidence comes with one of a few dozen certificates, so each is kept once.
create table deed.certificates (
    digest bytea primary key check (octet_length(digest) = 32),
    der bytea not null check (octet_length(der) between 1 and 16384)
);

create table deed.evidence (
    -- SHA-256 of the evidence as a whole.
    digest bytea constraint evidence_pkey primary key check (octet_length(digest) = 32),
    project text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    kind text not null,
    app text,
    signed_at bigint not null,
    first_seen_at bigint not null,
    verdict text not null check (verdict in ('believed', 'refused')),
    -- The evidence without its certificates; null where no more than the digest is kept.
    content bytea check (octet_length(content) <= 4194320),
    -- The digests of its certificates, one behind the other, in the order in which they go back.
    certificates bytea not null
        check (octet_length(certificates) % 32 = 0 and octet_length(certificates) <= 1024),
    -- SHA-256 of the row's other columns.
    seal bytea not null
);
-- Only what was filed whole may be taken down to its digest later, by the owner.
create trigger evidence_is_whole before insert on deed.evidence
    for each row when (new.content is null)
    execute function deed.refuse_change();

-- Evidence that cannot be judged yet. A row that waits is due at next_try_at; who takes it moves that
-- ahead, so that it comes back by itself when they die.
create table deed.intake (
    id text constraint intake_pkey primary key check (octet_length(id) between 1 and 64),
    project text not null check (octet_length(project) between 1 and 256),
    purpose text not null check (purpose in ('submit', 'restore', 'notification')),
    -- Null when the store itself brought it.
    customer text check (octet_length(customer) between 1 and 256),
    order_id text check (octet_length(order_id) between 1 and 256),
    environment text not null check (environment in ('production', 'sandbox')),
    kind text not null,
    app text not null check (octet_length(app) between 1 and 256),
    digest bytea not null check (octet_length(digest) = 32),
    evidence bytea not null check (octet_length(evidence) between 1 and 4194304),
    state text not null check (state in ('waiting', 'believed', 'refused', 'settled', 'dropped')),
    tries bigint not null default 0 check (tries >= 0),
    next_try_at bigint not null,
    -- Why it waits or was refused: a name for programs and a sentence for people.
    code text,
    sentence text,
    -- What came of each purchase, as JSON.
    results text,
    -- Who settled or dropped it by hand, and why.
    actor text,
    reason text,
    ticket text,
    added_at bigint not null,
    changed_at bigint not null,
    revision bigint not null default 0,
    constraint intake_bearer_check check ((customer is null) = (purpose = 'notification'))
);
-- The same evidence for the same purpose waits once.
create unique index intake_waiting_key
    on deed.intake (project, digest, purpose, environment, (coalesce(customer, '')))
    where state = 'waiting';
create index intake_due on deed.intake (tries, next_try_at) include (added_at)
    where state = 'waiting';
create index intake_listed on deed.intake (project, added_at, id);
create index intake_ended on deed.intake (changed_at) where state <> 'waiting';

-- ---- Projects, which follow from the log ---------------------------------------------------------------------

create table deed.projects (
    project text primary key,
    created_at bigint not null,
    catalog_version bigint not null default 0,
    -- The catalog by which the rows of every customer are known to be projected.
    projected_version bigint not null default 0,
    -- When the project's newest reconciliation ended that came to its end, and whether all was well.
    reconciled_at bigint,
    is_sound boolean,
    -- When a reconciliation was requested that has not ended.
    requested_at bigint
);

-- Which project has an app: one, because the store's news tell the app and no project.
create table deed.apps (
    store text not null,
    app text not null,
    project text not null,
    apple_id bigint,
    receipts text not null,
    -- Whether sandbox purchases of any customer count in production answers.
    counts_sandbox boolean not null,
    constraint apps_pkey primary key (store, app)
);

create table deed.keys (
    digest bytea primary key check (octet_length(digest) = 32),
    project text not null,
    key_id text not null,
    role text not null check (role in ('reader', 'backend', 'admin')),
    name text not null,
    created_at bigint not null,
    revoked_at bigint
);
create index keys_of_project on deed.keys (project, created_at);

-- Writes which projects have apps. An app of another project is refused.
create function deed.claim_apps(
    stores text[], apps text[], projects text[], apple_ids bigint[], judges text[],
    counting boolean[]
) returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
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

-- ---- Customers, which follow from the log --------------------------------------------------------------------

create table deed.customers (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    version bigint not null,
    -- The catalog by which runs were derived.
    catalog_version bigint not null,
    -- {"entitlement": "{[start,end),...}"}: the unbroken runs of access, each an int8multirange.
    runs jsonb not null,
    -- ["704…"]: the names of the accounts by which the customer uses apps; null where none is known.
    app_transactions jsonb,
    -- By when the last of the refunds that were asked for may be answered about.
    answer_by bigint,
    -- The next instant at which something about the customer has to be published, by what is recorded. Who is
    -- due is found by it, shard by shard, so that looking costs what is due and not what is kept.
    next_boundary_at bigint,
    -- From when on the store is to be asked about one of the customer's subscriptions; found in the same way.
    inquiry_at bigint,
    primary key (shard, customer, project, environment)
);
create index customers_app_transactions on deed.customers
    using gin (app_transactions jsonb_path_ops) where app_transactions is not null;
create index customers_answer_by on deed.customers (project, environment, answer_by, customer)
    where answer_by is not null;
create index customers_next_boundary on deed.customers (shard, next_boundary_at)
    where next_boundary_at is not null;
create index customers_inquiry on deed.customers (project, inquiry_at, environment, customer)
    where inquiry_at is not null;

create table deed.purchases (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    store text not null,
    original text not null,
    app text not null,
    kind text,
    product text not null,
    purchased_at bigint not null,
    expires_at bigint,
    revoked_at bigint,
    is_upgraded boolean not null,
    will_renew boolean,
    next_product text,
    in_billing_retry boolean,
    grace_until bigint,
    -- Read whole and by others only; jsonb would cost each write more than it spares a reader.
    transactions json not null,
    primary key (shard, customer, project, environment, store, original)
);

create table deed.customer_balances (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    currency text not null,
    amount bigint not null,
    primary key (shard, customer, project, environment, currency)
);

create table deed.customer_grants (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    grant_id text not null,
    entitlement text not null,
    starts_at bigint not null,
    ends_at bigint,
    reason text not null,
    ticket text,
    given_at bigint not null,
    given_by text not null,
    revoked_at bigint,
    revoked_by text,
    revoked_because text,
    revoked_ticket text,
    primary key (shard, customer, project, environment, grant_id)
);

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

create table deed.orders (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    order_id text not null,
    token text not null,
    product text,
    opened_at bigint not null,
    expires_at bigint not null,
    fulfilled_by text,
    closed_at bigint,
    closed_because text,
    primary key (shard, customer, project, environment, order_id)
);
create index orders_open on deed.orders (shard, expires_at)
    where fulfilled_by is null and closed_at is null;

-- ---- Names that lead to customers, which follow from the log -------------------------------------------------

-- What names a customer within a project and environment, whichever shard holds the customer. In these
-- keys the column stands first that tells most rows apart: with the project in front each step of a search
-- would compare what is the same everywhere.
create table deed.order_owners (
    project text not null,
    environment text not null,
    order_id text not null,
    customer text not null,
    constraint order_owners_pkey primary key (order_id, project, environment)
);

create table deed.tokens (
    project text not null,
    environment text not null,
    -- A UUID in lower-case.
    token text not null,
    customer text not null,
    constraint tokens_pkey primary key (token, project, environment)
);
-- By hash, so that it is never mistaken for the way to a token.
create index tokens_of_customer on deed.tokens using hash (customer);

-- Who holds a purchase: one customer, no matter who proves it.
create table deed.holders (
    project text not null,
    store text not null,
    environment text not null,
    app text not null,
    original text not null,
    customer text not null,
    constraint holders_pkey primary key (original, project, store, environment, app)
);

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

-- The account tokens that those purchases carry.
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

-- The account tokens that purchases with a holder carry, and that no customer has: once one is a customer's, the
-- purchase may be that customer's. Nothing is here of purchases that stay with their holders all the same: what
-- an admin moved, and what was credited to a balance.
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

-- Writes whose orders are. An order id of another customer is refused.
create function deed.claim_orders(
    projects text[], environments text[], orders text[], customers text[]
) returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
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

-- What commits lock that give or await account tokens. Any login can take an advisory lock; these rows are locked
-- by those alone who may write them.
create table deed.token_buckets (
    bucket smallint primary key check (bucket between 0 and 255)
);
insert into deed.token_buckets select generate_series(0, 255);

-- Keeps a commit that gives a token to a customer and one that keeps a purchase under a token without an
-- owner from passing each other unseen: the second one waits, and sees what the first one wrote. The
-- locks are taken in one order, so that two commits never wait for each other.
create function deed.guard_tokens(given text[], awaited text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    wanted smallint;
    is_awaited boolean;
begin
    for wanted, is_awaited in
        select hash, bool_or(waits) from (
            select hashtext(token) & 255, false from unnest(given) as token
            union all
            select hashtext(token) & 255, true from unnest(awaited) as token
        ) as wanted (hash, waits)
        group by hash order by hash
    loop
        -- Many may give tokens at once: their own keys keep those apart.
        if is_awaited then
            perform from deed.token_buckets as b where b.bucket = wanted for update;
        else
            perform from deed.token_buckets as b where b.bucket = wanted for key share;
        end if;
        if not found then
            raise exception 'deed.token_buckets lacks %', wanted;
        end if;
    end loop;
end $$;

-- Writes whose account tokens are. A token of another customer is refused, and so is one that purchases carry
-- which wait under it, or which have a holder, and which the decision did not see.
create function deed.claim_tokens(
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

-- Writes under which tokens without a customer purchases wait. One that was looked at and a customer has by now is
-- refused: the purchase is the customer's.
create function deed.await_tokens(
    projects text[], environments text[], tokens text[], stores text[], originals text[],
    apps text[], looked_at boolean[]
) returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into deed.unclaimed_tokens (project, environment, token, store, original, app)
    select new.project, new.environment, new.token, new.store, new.original, new.app
    from unnest(projects, environments, tokens, stores, originals, apps)
        as new (project, environment, token, store, original, app)
    -- One by one, as in load_holders.
    left join lateral (
        select t.customer from deed.tokens as t
        where t.project = new.project and t.environment = new.environment
            and t.token = new.token
        limit 1
    ) as owner on true
    where owner.customer is null
    on conflict on constraint unclaimed_tokens_pkey do nothing;
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

-- Writes which tokens without a customer purchases with a holder carry. One that was looked at and a customer
-- has by now is refused: the purchase may be the customer's.
create function deed.carry_tokens(
    projects text[], environments text[], tokens text[], stores text[], originals text[],
    customers text[], apps text[], looked_at boolean[]
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    insert into deed.carried_tokens as c
        (project, environment, token, store, original, app, customer)
    select new.project, new.environment, new.token, new.store, new.original, new.app, new.customer
    from unnest(projects, environments, tokens, stores, originals, customers, apps)
        as new (project, environment, token, store, original, customer, app)
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

-- ---- Stores, of which nothing follows from the log -----------------------------------------------------------

-- What apps show a store to be heard. It is in no log: secrets must be able to vanish.
create table deed.store_credentials (
    project text not null check (octet_length(project) between 1 and 256),
    store text not null check (octet_length(store) between 1 and 32),
    app text not null check (octet_length(app) between 1 and 256),
    -- AES-256-GCM, under a key that is in no database: nonce, text, tag.
    sealed bytea not null check (octet_length(sealed) between 28 and 16384),
    -- Which key of the installation opens it.
    key_name bytea not null check (octet_length(key_name) = 8),
    has_key boolean not null,
    has_shared_secret boolean not null,
    -- A store on this machine that stands in for the real one.
    address text check (address ~ '^http://(127\.0\.0\.1|\[::1\]):[0-9]{1,5}$'),
    changed_at bigint not null,
    changed_by text not null check (octet_length(changed_by) between 1 and 256),
    revision bigint not null default 1,
    -- Which write came last is told by the log, not by clocks: by the version that the project's own stream had.
    version bigint not null check (version > 0),
    constraint store_credentials_pkey primary key (project, store, app)
);

-- How much all instances together have asked of a store, and until when it wants no more. A row that is
-- lost costs nothing but the memory of that.
create table deed.store_budgets (
    project text not null check (octet_length(project) between 1 and 256),
    store text not null check (octet_length(store) between 1 and 32),
    app text not null check (octet_length(app) between 1 and 256),
    environment text not null check (environment in ('production', 'sandbox')),
    endpoint text not null check (octet_length(endpoint) between 1 and 64),
    -- In microseconds: when as many calls as were made would have been made at the pace that is allowed.
    used_until bigint not null,
    -- In microseconds, too.
    rests_until bigint not null,
    constraint store_budgets_pkey primary key (project, store, app, environment, endpoint)
);

-- How far the store's own books were read. Nothing is lost with it: what is read twice is recorded once.
create table deed.histories (
    project text not null,
    store text not null,
    app text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    original text not null,
    -- Which part of the history was asked for, and the store's name for the place up to which it was read.
    since bigint,
    revision text check (octet_length(revision) between 1 and 4096),
    -- The store does not know the purchase, and is not asked again before.
    rests_until bigint,
    constraint histories_pkey primary key (original, project, store, app, environment)
);

create table deed.notification_marks (
    project text not null,
    store text not null,
    app text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    -- All that was sent before was read.
    read_until bigint not null,
    constraint notification_marks_pkey primary key (project, store, app, environment)
);

-- Which histories of customers a store is still to be asked for. A row goes when the store has answered. Of
-- customers only those are here about whom a question is open.
create table deed.history_questions (
    project text not null check (octet_length(project) between 1 and 256),
    store text not null check (octet_length(store) between 1 and 32),
    app text not null check (octet_length(app) between 1 and 256),
    environment text not null check (environment in ('production', 'sandbox')),
    -- A purchase that the store knows the customer by.
    original text not null check (octet_length(original) between 1 and 256),
    customer text not null check (octet_length(customer) between 1 and 512),
    -- When the newest of the purchases was made: the newest are asked about first.
    newest_at bigint not null,
    -- Why something is known to be missing; null where it is only asked in its turn.
    obstacle text check (octet_length(obstacle) between 1 and 4096),
    constraint history_questions_pkey primary key (original, project, store, app, environment)
);
create index history_questions_newest
    on deed.history_questions (project, store, app, newest_at desc, original, environment);
-- By hash, so that it is never mistaken for another way.
create index history_questions_of_customer on deed.history_questions using hash (customer);

-- The rounds in which each customer's history is asked for, the newest of each app.
create table deed.history_rounds (
    project text not null check (octet_length(project) between 1 and 256),
    store text not null check (octet_length(store) between 1 and 32),
    app text not null check (octet_length(app) between 1 and 256),
    -- Whether there is a question for each customer who was known when it began.
    is_filled boolean not null,
    -- Whether it began by itself, and takes its time.
    is_slow boolean not null,
    -- Whether each question of some round of the app was answered.
    was_whole boolean not null,
    constraint history_rounds_pkey primary key (project, store, app)
);

-- ---- Running, of which nothing follows from the log ----------------------------------------------------------

-- Which instance does what one does for all of them. Nothing is lost with it: a job that is not known to
-- have run is run again.
create table deed.leases (
    name text constraint leases_pkey primary key check (octet_length(name) between 1 and 64),
    -- One more with each taking: an earlier holder writes nothing more under it.
    fence bigint not null check (fence > 0),
    -- By the machine's clock of the instance that holds it.
    held_until bigint not null,
    -- When the last run began that came to its end, by Deed's clock.
    ran_at bigint,
    -- In which session of the database it is held: when that ends, the lease does.
    session integer
);

-- Who must miss nothing of the log has a place in each shard, under a name. Without its row a name begins
-- anew: what it does must not be done twice by what counts.
create table deed.cursors (
    name text not null check (octet_length(name) between 1 and 64),
    shard smallint not null check (shard between 0 and 63),
    -- All up to here is done.
    seq bigint not null check (seq >= 0),
    constraint cursors_pkey primary key (name, shard)
);

-- How far reconciliations have come. A step that is not known to be done is done again, and a chain that is not
-- known to be proven is walked from its start.
create table deed.reconciled (
    project text not null,
    reconciliation text not null,
    step text not null,
    -- -1 where the step is done for all shards at once.
    shard smallint not null,
    looked_at bigint not null,
    -- Noted before a repair writes, so that a run that is killed then still tells it.
    found bigint not null,
    mended bigint not null,
    -- Whether the part came to its end.
    is_done boolean not null default true,
    constraint reconciled_pkey primary key (project, reconciliation, step, shard)
);

create table deed.proven (
    shard smallint primary key check (shard between 0 and 63),
    head bigint not null,
    chain bytea not null check (octet_length(chain) = 32)
);

-- How far an instance had seen the log where it found that this database ends earlier, or has another event there. While
-- the database lacks one of them, no instance works with it.
create table deed.lost_ends (
    shard smallint not null check (shard between 0 and 63),
    -- Sums of all shards are numbers, too.
    seq bigint not null check (seq between 1 and 9007199254740991),
    chain bytea not null check (octet_length(chain) = 32),
    -- How many losses the log had accepted by then. What is accepted later was accepted for this one.
    acceptances bigint not null check (acceptances >= 0),
    constraint lost_ends_pkey primary key (shard)
);

-- How many standbys confirm commits, and how many commits of this database have waited for them for long. Which
-- standby is one of those, and what other sessions wait for, is hidden from the service, and all else of other
-- sessions stays so. Where the owner may not see it either, each standby that is there counts.
create function deed.standbys(out confirming bigint, out waiting bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select (
            select count(*) from pg_catalog.pg_stat_replication as r
            where r.sync_state in ('sync', 'quorum') or r.sync_state is null
        ), (
            select count(*) from pg_catalog.pg_stat_activity as a
            where a.wait_event = 'SyncRep' and a.datname = current_database()
                and a.state_change < clock_timestamp() - interval '2 seconds'
        )
$$;

-- ---- The test clock ------------------------------------------------------------------------------------------

-- The clock of a database that was made to be tested: one row where there is one, and none where the
-- machine's clock counts. Once there, it stays, and goes forward only.
create table deed.test_clock (
    only_one boolean primary key default true check (only_one),
    stands_at bigint not null,
    -- By the machine's clock.
    marked_at bigint not null
);

create function deed.keep_test_clock() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception 'a test clock stays and goes forward only: % on %.% is refused', tg_op,
        tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'use another database to begin again';
end $$;

create trigger test_clock_goes_forward before update on deed.test_clock
    for each row when (new.stands_at < old.stands_at or new.marked_at <> old.marked_at)
    execute function deed.keep_test_clock();
create trigger test_clock_stays before delete on deed.test_clock
    for each row execute function deed.keep_test_clock();
create trigger test_clock_is_not_emptied before truncate on deed.test_clock
    for each statement execute function deed.keep_test_clock();
alter table deed.test_clock enable always trigger test_clock_goes_forward;
alter table deed.test_clock enable always trigger test_clock_stays;
alter table deed.test_clock enable always trigger test_clock_is_not_emptied;

-- A test clock ends every instance of a database that serves the real world, so only the owner makes one, and
-- no one where the real world has left anything.
create function deed.refuse_test_clock() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from deed.customers as c where c.environment = 'production')
        or exists (select from deed.holders as h where h.environment = 'production')
        or exists (select from deed.unclaimed as u where u.environment = 'production')
        or exists (select from deed.tokens as t where t.environment = 'production')
        or exists (select from deed.intake as i where i.environment = 'production')
        or exists (
            select from deed.evidence as e
            where e.environment = 'production' and e.verdict = 'believed'
        )
    then
        raise exception 'the database has customers in production' using errcode = 'DD007';
    end if;
    if exists (
        select from deed.store_credentials as s
        where s.address is null and (s.has_key or s.has_shared_secret)
    ) then
        raise exception 'an app has credentials for a real store' using errcode = 'DD008';
    end if;
    return new;
end $$;

create trigger test_clock_is_for_tests before insert on deed.test_clock
    for each row execute function deed.refuse_test_clock();
alter table deed.test_clock enable always trigger test_clock_is_for_tests;

-- ---- What other programs read and join -----------------------------------------------------------------------

-- Names and columns here stay as they are. Instants are timestamps, and what has no end has a null.

-- Views call these for each row: a body of this kind, not strict and as stable as it is called, is made a part of
-- the query. What is not in the years 1 to 9999 is one of a timestamp's infinities.
create function deed.instant(milliseconds bigint) returns timestamptz
language sql stable parallel safe
return case
    when milliseconds < -62135596800000 then '-infinity'::timestamptz
    when milliseconds >= 253402300800000 then 'infinity'::timestamptz
    else 'epoch'::timestamptz + milliseconds / 1000 * interval '1 second'
        + milliseconds % 1000 * interval '1 millisecond'
end;

create function deed.instant(written text) returns timestamptz
language sql stable parallel safe
return case
    when written like '-%' or written like '0000%' then '-infinity'
    when written like '+%' then 'infinity'
    else written
end::timestamptz;

-- What time it is for Deed. With the rights of who asks: the views and the clock may be read by those who may ask.
create function deed.now() returns timestamptz language sql stable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select coalesce((select deed.instant(c.stands_at) from deed.test_clock as c), pg_catalog.now())
$$;

-- FNV-1a modulo 64 needs no more than the lowest six bits of each step.
create function deed.shard_of(project text, environment text, customer text) returns smallint
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp as $$
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

-- A condition on the customer finds its rows by the tables' own keys. Those lead with the shard, so each view names
-- all that there are; and it compares the column itself, not what is made of it.
create function deed.every_shard() returns smallint[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select array_agg(shard::smallint) from generate_series(0, 63) as shard
$$;

-- The unbroken runs of access to each entitlement, over all of its sources.
create view deed.entitlements as
select c.project, c.environment, c.customer, e.entitlement,
    deed.instant(lower(run)) as starts_at, deed.instant(upper(run)) as ends_at
from deed.customers as c
cross join lateral jsonb_each_text(c.runs) as e (entitlement, runs)
cross join lateral unnest(e.runs::int8multirange) as run
where c.shard = any (deed.every_shard()) and not starts_with(c.customer, '$unclaimed/');

create view deed.subscriptions as
select p.project, p.environment, p.customer, p.store, p.store || ':' || p.original as purchase,
    p.app, p.kind, p.product, deed.instant(p.purchased_at) as purchased_at,
    deed.instant(p.expires_at) as expires_at, deed.instant(p.grace_until) as grace_until,
    deed.instant(p.revoked_at) as revoked_at, p.is_upgraded, p.will_renew, p.next_product,
    p.in_billing_retry
from deed.purchases as p
where p.shard = any (deed.every_shard()) and p.kind in ('auto_renewable', 'non_renewing')
    and not starts_with(p.customer, '$unclaimed/');

create view deed.balances as
select b.project, b.environment, b.customer, b.currency, b.amount
from deed.customer_balances as b
where b.shard = any (deed.every_shard());

-- Each column of each part has its name: the view of a restored dump is then written as this one is.
create view deed.transactions as
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

-- What was paid back. A family member who loses access was paid nothing.
create view deed.refunds as
select t.project, t.environment, t.customer, t.store, t.purchase, t.transaction, t.app, t.product,
    t.kind, t.purchased_at, t.revoked_at as refunded_at, t.revoked_because as because,
    coalesce(t.revoked_share, 1) as share, trim_scale(t.price * coalesce(t.revoked_share, 1)) as amount,
    t.currency, t.evidence, t.signed_at
from deed.transactions as t
where t.revoked_at is not null and t.ownership = 'purchased'
    and t.revoked_extent is distinct from 'family';

create view deed.grants as
select g.project, g.environment, g.customer, g.grant_id, g.entitlement,
    deed.instant(g.starts_at) as starts_at, deed.instant(g.ends_at) as ends_at, g.reason, g.ticket,
    deed.instant(g.given_at) as given_at, g.given_by, deed.instant(g.revoked_at) as revoked_at,
    g.revoked_by, g.revoked_because, g.revoked_ticket
from deed.customer_grants as g
where g.shard = any (deed.every_shard());

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

-- What happened to customers, as far as the heads of their shards reach: what may still be committed has no row.
create view deed.feed as
select e.project, e.environment, e.customer, e.shard || ':' || e.seq as position, e.shard, e.seq as sequence,
    e.version, e.type, deed.instant(e.occurred_at) as occurred_at, deed.instant(e.recorded_at) as recorded_at,
    e.actor, e.cause, e.payload::json as data
from deed.events as e
join deed.shards as s on s.shard = e.shard and e.seq between 1 and s.head
where not starts_with(e.customer, '$project/') and not starts_with(e.customer, '$unclaimed/');

-- Whether the customer may use the entitlement at an instant; the same answer as the service's.
create function deed.entitled(
    project text, customer text, entitlement text, at timestamptz default deed.now(),
    environment text default 'production'
) returns boolean language sql stable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select exists (
        select from deed.entitlements as e
        where e.project = $1 and e.environment = $5 and e.customer = $2 and e.entitlement = $3
            and (e.starts_at is null or e.starts_at <= $4)
            and (e.ends_at is null or $4 < e.ends_at))
$$;

-- ---- Rights --------------------------------------------------------------------------------------------------

grant usage on schema deed to deed_service;
grant select on deed.migrations to deed_service;

-- The log only grows, and no row of a shard becomes another shard's.
grant select, insert on deed.events, deed.certificates, deed.evidence to deed_service;
grant select on deed.shards to deed_service;
grant select, update on deed.token_buckets to deed_service;
grant update (head, chain, recorded_at) on deed.shards to deed_service;

grant select, insert, update, delete
    on deed.projects, deed.apps, deed.keys, deed.customers, deed.purchases, deed.customer_balances,
        deed.customer_grants, deed.waiting_credits, deed.orders, deed.order_owners, deed.tokens, deed.holders, deed.unclaimed,
        deed.unclaimed_tokens, deed.carried_tokens, deed.intake, deed.store_credentials, deed.histories,
        deed.notification_marks, deed.history_questions, deed.cursors, deed.reconciled, deed.lost_ends
    to deed_service;
grant select, insert, update
    on deed.store_budgets, deed.history_rounds, deed.leases, deed.proven
    to deed_service;
grant select on deed.test_clock to public, deed_service;
grant update (stands_at) on deed.test_clock to deed_service;
grant select on deed.entitlements, deed.subscriptions, deed.balances, deed.transactions, deed.refunds,
    deed.grants, deed.products, deed.feed
    to deed_service;

-- A login that selects from a view calls its functions with rights of its own. Without usage of the schema no right
-- in it counts, so these are for each role that was given that. None of them tells more than the views do.
revoke execute on all functions in schema deed from public;
grant execute on function deed.instant(bigint), deed.instant(text), deed.every_shard(), deed.now(),
    deed.entitled(text, text, text, timestamptz, text) to public;
grant execute
    on function deed.claim_apps, deed.claim_orders, deed.guard_tokens, deed.claim_tokens, deed.await_tokens,
        deed.carry_tokens, deed.standbys
    to deed_service;
