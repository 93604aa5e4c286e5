-- What endpoints sign and send with, as store_credentials: encrypted under a key that is in no database.
create table deed.webhook_secrets (
    project text not null check (octet_length(project) between 1 and 256),
    webhook text not null check (octet_length(webhook) between 1 and 64),
    -- AES-256-GCM: nonce, text, tag.
    sealed bytea not null check (octet_length(sealed) between 28 and 65536),
    -- Which key of the installation opens it.
    key_name bytea not null check (octet_length(key_name) = 8),
    revision bigint not null,
    -- Which write came last is told by the log: by the version that the project's own stream had.
    version bigint not null check (version > 0),
    constraint webhook_secrets_pkey primary key (project, webhook)
);

-- How far each endpoint has come.
create table deed.webhook_places (
    project text not null check (octet_length(project) between 1 and 256),
    webhook text not null check (octet_length(webhook) between 1 and 64),
    -- A cursor of the feed: everything before it has arrived, or belongs to a customer who waits.
    cursor text not null check (octet_length(cursor) between 1 and 1024),
    -- Which request to resume has been heeded.
    resumptions bigint not null default 0,
    failing_since bigint,
    parked_at bigint,
    gone_at bigint,
    rests_until bigint,
    oldest_at bigint,
    attempts bigint not null default 0,
    constraint webhook_places_pkey primary key (project, webhook)
);

-- Customers whose message did not arrive: each waits with all later ones, and others go on.
create table deed.webhook_waiting (
    project text not null,
    webhook text not null,
    customer text not null check (octet_length(customer) between 1 and 256),
    -- The first event that has not arrived as a whole, and which of its messages.
    shard smallint not null check (shard between 0 and 63),
    seq bigint not null,
    version bigint not null,
    part smallint not null,
    attempts bigint not null,
    -- Null: not before it is resumed.
    due_at bigint,
    recorded_at bigint not null,
    constraint webhook_waiting_pkey primary key (project, webhook, customer)
);

-- What was tried. Nothing rests on it.
create table deed.webhook_attempts (
    project text not null,
    webhook text not null,
    number bigint not null,
    message text not null,
    type text not null,
    customer text not null,
    attempt bigint not null,
    at bigint not null,
    milliseconds bigint not null,
    status bigint,
    error text,
    answer text not null check (octet_length(answer) <= 16384),
    replay text,
    constraint webhook_attempts_pkey primary key (project, webhook, number)
);

create table deed.webhook_replays (
    project text not null,
    webhook text not null,
    replay text not null check (octet_length(replay) between 1 and 64),
    -- Tells requests under one idempotency key apart.
    digest bytea not null,
    asked_at bigint not null,
    event text,
    since bigint,
    until bigint,
    types text,
    customer text,
    cursor text,
    sent bigint not null default 0,
    failed bigint not null default 0,
    is_over boolean not null default false,
    constraint webhook_replays_pkey primary key (project, webhook, replay)
);
create index webhook_replays_open on deed.webhook_replays (project, webhook) where not is_over;

grant select, insert, update, delete
    on deed.webhook_secrets, deed.webhook_places, deed.webhook_waiting, deed.webhook_attempts,
        deed.webhook_replays
    to deed_service;
