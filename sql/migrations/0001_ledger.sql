-- The log and what is projected from it. Instants are milliseconds since 1970 UTC.

create table deed.shards (
    shard smallint primary key check (shard between 0 and 63),
    head bigint not null default 0 check (head >= 0),
    chain bytea not null check (octet_length(chain) = 32),
    -- Never runs backwards, whatever the clocks of the writers do.
    recorded_at bigint not null default 0
) with (fillfactor = 10);

insert into deed.shards (shard, chain)
select number, decode(repeat('00', 32), 'hex') from generate_series(0, 63) as number;

-- Few checks, because each is read anew by every statement that inserts: those of lengths that the chain
-- and its readers rely on. Everything else is checked by whoever writes, which only the service may.
create table deed.events (
    shard smallint not null,
    seq bigint not null,
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
    constraint events_digests_check
        check (octet_length(digest) = 32 and octet_length(chain) = 32
            and octet_length(cause_digest) = 32),
    constraint events_pkey primary key (shard, seq),
    -- The customer stands first: it tells most rows apart at once. The shard, which follows from the
    -- rest, stands last and is not asked for when a stream is read: with nothing known of a young
    -- table the primary key would look as good, and be kept in plans that then read whole shards.
    constraint events_version_key unique (customer, project, environment, version, shard)
);

create function deed.refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the log only grows: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'append an event that corrects the earlier one';
end $$;

create trigger events_only_grow before update or delete on deed.events
    for each row execute function deed.refuse_change();
create trigger events_are_not_emptied before truncate on deed.events
    for each statement execute function deed.refuse_change();

create trigger shards_only_grow before update on deed.shards
    for each row when (new.head < old.head) execute function deed.refuse_change();
create trigger shards_stay before delete on deed.shards
    for each row execute function deed.refuse_change();
create trigger shards_are_not_emptied before truncate on deed.shards
    for each statement execute function deed.refuse_change();
alter table deed.events enable always trigger events_only_grow;
alter table deed.events enable always trigger events_are_not_emptied;

create table deed.customers (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    version bigint not null,
    next_change_at bigint,
    -- The catalog by which next_change_at and runs were derived.
    catalog_version bigint not null,
    -- {"entitlement": "{[start,end),...}"}: the unbroken runs of access, each an int8multirange.
    runs jsonb not null,
    primary key (shard, customer, project, environment)
);
create index customers_next_change on deed.customers (next_change_at)
    where next_change_at is not null;

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

-- What names a customer within a project and environment, whichever shard holds the customer. In these
-- keys and in those of holders the column stands first that tells most rows apart: with the project in
-- front each step of a search would compare what is the same everywhere.
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

-- Who holds a purchase: one customer, whoever proves it.
create table deed.holders (
    project text not null,
    store text not null,
    environment text not null,
    app text not null,
    original text not null,
    customer text not null,
    constraint holders_pkey primary key (original, project, store, environment, app)
);

create table deed.projects (
    project text primary key,
    created_at bigint not null,
    catalog_version bigint not null default 0,
    -- The catalog by which the rows of every customer are known to be projected.
    projected_version bigint not null default 0
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

grant usage on schema deed to deed_service;
grant select on deed.migrations to deed_service;
grant select, insert on deed.events to deed_service;
grant select, update on deed.shards to deed_service;
grant select, insert, update, delete
    on deed.customers, deed.purchases, deed.customer_balances, deed.orders,
        deed.order_owners, deed.tokens, deed.holders, deed.projects, deed.apps, deed.keys
    to deed_service;
