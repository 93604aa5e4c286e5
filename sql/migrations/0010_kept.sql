-- The states of customers with many events, each at a version, so that such a stream need not be read from its
-- beginning. They follow from the log: a row may be missing, and one that does not fit is not believed.
create table deed.kept_states (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    version bigint not null,
    -- Where the event of that version lies, and the chain there: in another log it is another one.
    seq bigint not null,
    chain bytea not null,
    -- Which program it is of; 0 in the place of a state that an erasure took away.
    number smallint not null,
    content bytea not null,
    digest bytea not null,
    constraint kept_states_pkey primary key (shard, customer, project, environment)
);
grant select, insert, update, delete on deed.kept_states to deed_service;
