-- Keeps a person's twenty most recently used sessions, and deletes expired ones. Opens no session, and returns no row,
-- if the checked password is no longer the person's, or if a person with a second factor gave no code.
-- $1 digest, $2 person, $3 now, $4 latest start and $5 latest use of an expired session, $6 the password's scrypt
-- output, $7 digest of the begun sign-in that a code ended, or null
with old as (
    delete from {schema}.sessions as s
    where s.started_at <= $4::bigint or s.seen_at <= $5::bigint or s.digest in (
        select o.digest from {schema}.sessions as o where o.person = $2::text
        order by o.seen_at desc, o.digest
        offset 19
    )
), known as (
    -- The reply to an earlier attempt may have been lost. No two calls have the same digest.
    select s.digest from {schema}.sessions as s where s.digest = $1::bytea and s.person = $2::text
    -- Locks the row, as in find_added_intake.
    for update
), begun as (
    delete from {schema}.begun_sign_ins as b where b.digest = $7::bytea
    returning b.person
), opened as (
    insert into {schema}.sessions (digest, person, started_at, seen_at, by_code)
    select $1::bytea, p.person, $3::bigint, $3::bigint, $7::bytea is not null from {schema}.people as p
    where p.person = $2::text and p.password = $6::bytea and not exists (select from known) and case
        when $7::bytea is null then not exists (
            select from {schema}.second_factors as f where f.person = p.person
        )
        else exists (select from begun where begun.person = p.person)
    end
    returning digest
)
select digest from opened
union all
select digest from known
