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
        check (octet_length(certificates) % 32 = 0 and octet_length(certificates) <= 1024)
);

grant select, insert on deed.certificates to deed_service;
grant select, insert on deed.evidence to deed_service;

-- Evidence that nobody can judge yet. A row that waits is due at next_try_at; who takes it moves that
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

grant select, insert, update, delete on deed.intake to deed_service;
