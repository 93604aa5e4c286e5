-- Which histories of customers a store is still to be asked for. A row goes when the store has answered. Of
-- customers only those are here about whom a question is open. None of it follows from the log.
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

grant select, insert, update, delete on deed.history_questions to deed_service;
grant select, insert, update on deed.history_rounds to deed_service;
