-- Deletes the link and sets the password, or returns no row. If a person already has this password, it counts as set,
-- because the reply to an earlier attempt may have been lost. No two calls have the same salt.
-- $1 digest of the link, $2 now, $3 salt, $4 the password's scrypt output, $5 its cost
with used as (
    delete from {schema}.person_links as l
    where l.digest = $1::bytea and l.ends_at > $2::bigint
    returning l.person
), ended as (
    delete from {schema}.sessions as s using used where s.person = used.person
), begun as (
    delete from {schema}.begun_sign_ins as b using used where b.person = used.person
), changed as (
    update {schema}.people as p set salt = $3::bytea, password = $4::bytea, cost = $5::int2
    from used where p.person = used.person
    returning p.person
), unchanged as (
    select p.person from {schema}.people as p
    where p.salt = $3::bytea and p.password = $4::bytea and p.cost = $5::int2
    -- Locks the row, as in find_added_intake.
    for update
)
select person from changed
union all
select person from unchanged
