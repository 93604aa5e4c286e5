-- What should have been told by a store and was not is asked for.

-- From when on the store is to be asked about one of the customer's subscriptions. Who is due is found by
-- it, so that looking costs what is due and not what is kept. This follows from the log.
alter table deed.customers add column inquiry_at bigint;
create index customers_inquiry on deed.customers (project, inquiry_at, environment, customer)
    where inquiry_at is not null;

-- When a reconciliation was requested that has not ended; this follows from the log, too.
alter table deed.projects add column requested_at bigint;

-- How far the store's own books were read. None of it follows from the log, and nothing is lost with it:
-- what is read twice is recorded once.

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

grant select, insert, update, delete on deed.histories, deed.notification_marks to deed_service;

-- The rows of customers are written anew from the log.
update deed.projects set projected_version = -1;
update deed.customers set catalog_version = -1;
