-- Deletes expired sign-ins. Begins nothing if the checked password is no longer the person's.
-- $1 digest, $2 person, $3 now, $4 latest beginning of an expired sign-in, $5 the password's scrypt output
with old as (
    delete from {schema}.begun_sign_ins where begun_at <= $4::bigint
)
insert into {schema}.begun_sign_ins (digest, person, begun_at)
select $1::bytea, p.person, $3::bigint from {schema}.people as p
where p.person = $2::text and p.password = $5::bytea
-- The reply to an earlier attempt may have been lost.
on conflict (digest) do nothing
