-- What apps show a store to be heard. Unlike all else it does not follow from the log, and is in none:
-- secrets must be able to vanish.
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
    constraint store_credentials_pkey primary key (project, store, app)
);
grant select, insert, update, delete on deed.store_credentials to deed_service;

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
grant select, insert, update on deed.store_budgets to deed_service;
