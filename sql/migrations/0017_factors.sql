-- The second factor of people who use the console: codes that an app makes from a secret, and emergency codes.
create table deed.second_factors (
    person text not null check (octet_length(person) between 1 and 64),
    -- The secret of the codes, sealed with the installation's key.
    sealed bytea not null check (octet_length(sealed) between 29 and 128),
    key_name bytea not null check (octet_length(key_name) = 8),
    -- The half minute whose code was accepted last. Codes of it and of earlier ones no longer count.
    step bigint not null,
    constraint second_factors_pkey primary key (person)
);

-- Codes for a person whose app is lost, each good once. Only their digests are kept.
create table deed.emergency_codes (
    person text not null check (octet_length(person) between 1 and 64),
    digest bytea not null check (octet_length(digest) = 32),
    constraint emergency_codes_pkey primary key (person, digest)
);

-- A sign-in whose password was right and whose code is missing. Only the digest of its cookie is kept.
create table deed.begun_sign_ins (
    digest bytea not null check (octet_length(digest) = 32),
    person text not null check (octet_length(person) between 1 and 64),
    begun_at bigint not null,
    constraint begun_sign_ins_pkey primary key (digest)
);

-- Whether a code was given, too. Without one, a session of a person with a second factor does not count.
alter table deed.sessions add column by_code boolean not null default false;

grant select, insert, update, delete on deed.second_factors to deed_service;
grant select, insert, delete on deed.emergency_codes, deed.begun_sign_ins to deed_service;
