-- The people who use the console. Their rows lie beside the log, so that a name can vanish: events name only the id.
create table deed.people (
    person text not null check (octet_length(person) between 1 and 64),
    email text not null check (octet_length(email) between 3 and 254),
    -- What scrypt makes of the password and the salt, and the binary logarithm of what that costs. Null until the
    -- person has chosen a password.
    salt bytea check (octet_length(salt) = 16),
    password bytea check (octet_length(password) = 32),
    cost smallint check (cost between 10 and 24),
    created_at bigint not null,
    constraint people_pkey primary key (person),
    constraint people_email_key unique (email),
    constraint people_password_whole check (
        (salt is null) = (password is null) and (cost is null) = (password is null))
);

create table deed.person_roles (
    person text not null check (octet_length(person) between 1 and 64),
    project text not null check (octet_length(project) between 1 and 256),
    role text not null check (role in ('reader', 'support', 'admin')),
    constraint person_roles_pkey primary key (person, project)
);

-- A link by which a person chooses a password, once. Only its digest is kept.
create table deed.person_links (
    person text not null check (octet_length(person) between 1 and 64),
    digest bytea not null check (octet_length(digest) = 32),
    ends_at bigint not null,
    constraint person_links_pkey primary key (person),
    constraint person_links_digest_key unique (digest)
);

-- A browser in which a person is signed in. Only the digest of its cookie is kept.
create table deed.sessions (
    digest bytea not null check (octet_length(digest) = 32),
    person text not null check (octet_length(person) between 1 and 64),
    started_at bigint not null,
    seen_at bigint not null,
    constraint sessions_pkey primary key (digest)
);
create index sessions_of_person on deed.sessions (person);

-- How often an address, a name, and a name from an address were tried lately. Each is kept as a digest; tries of a
-- name from an address say which name it was.
create table deed.sign_in_tries (
    who bytea not null check (octet_length(who) = 32),
    name bytea check (octet_length(name) = 32),
    since bigint not null,
    count bigint not null,
    constraint sign_in_tries_pkey primary key (who)
);
create index sign_in_tries_since on deed.sign_in_tries (since);
create index sign_in_tries_of_name on deed.sign_in_tries (name) where name is not null;

grant select, insert, update, delete
    on deed.people, deed.person_roles, deed.person_links, deed.sessions, deed.sign_in_tries
    to deed_service;
