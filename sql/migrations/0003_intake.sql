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
