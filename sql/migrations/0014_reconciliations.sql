-- How far reconciliations have come. None of it follows from the log, and nothing is lost with it: a
-- step that is not known to be done is done again, and a chain that is not known to be proven is walked
-- from its start.

create table deed.reconciled (
    project text not null,
    reconciliation text not null,
    step text not null,
    -- -1 where the step is done for all shards at once.
    shard smallint not null,
    looked_at bigint not null,
    found bigint not null,
    mended bigint not null,
    constraint reconciled_pkey primary key (project, reconciliation, step, shard)
);

create table deed.proven (
    shard smallint primary key check (shard between 0 and 63),
    head bigint not null,
    chain bytea not null check (octet_length(chain) = 32)
);

-- When the project's newest reconciliation ended that came to its end, and whether all was well. This
-- follows from the log.
alter table deed.projects add column reconciled_at bigint, add column is_sound boolean;

create index orders_open on deed.orders (shard, expires_at)
    where fulfilled_by is null and closed_at is null;

grant select, insert, update, delete on deed.reconciled to deed_service;
grant select, insert, update on deed.proven to deed_service;
