-- Keeps a person's twenty most recently used sessions, and deletes those whose time is over. Opens
-- no session if the checked password is no longer the person's.
-- 1 digest, 2 person, 3 now; a session is over: 4 if it started then or earlier, 5 if it was last used then or earlier;
-- 6 the password's scrypt output
with old as (
    delete from {schema}.sessions as s
    where s.started_at <= $4::bigint or s.seen_at <= $5::bigint or s.digest in (
        select o.digest from {schema}.sessions as o where o.person = $2::text
        order by o.seen_at desc, o.digest
        offset 19
    )
)
insert into {schema}.sessions (digest, person, started_at, seen_at)
select $1::bytea, p.person, $3::bigint, $3::bigint from {schema}.people as p
where p.person = $2::text and p.password = $6::bytea
