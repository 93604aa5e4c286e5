-- The instances that serve this database, as each of them says every five seconds, by PostgreSQL's clock. Nothing but what
-- operators are shown depends on it.
create table deed.instances (
    instance text not null check (octet_length(instance) between 1 and 64),
    started_at bigint not null,
    seen_at bigint not null,
    -- What it says of itself, in JSON: version, machine, process, addresses, why it is not ready, what it cannot read.
    says text not null check (octet_length(says) between 2 and 65536),
    constraint instances_pkey primary key (instance)
);

-- When something that operators do was last done, and what it said: an audit, a checkpoint, a backup.
create table deed.last_done (
    what text not null check (octet_length(what) between 1 and 1024),
    done_at bigint not null,
    says text not null check (octet_length(says) between 2 and 65536),
    constraint last_done_pkey primary key (what)
);

grant select, insert, update, delete on deed.instances, deed.last_done to deed_service;
