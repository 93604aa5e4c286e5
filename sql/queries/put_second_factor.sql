-- Replaces the person's second factor and emergency codes. Ends all other sessions, because no code opened them.
-- Returns no row if the requesting session is over, or if a code of this half minute or a later one was already
-- accepted. Puts the same factor again, because the reply to an earlier attempt may have been lost. No two calls have
-- the same sealed secret.
-- $1 person, $2 sealed secret, $3 name of the key, $4 step of the code that proved it, $5 digests of the emergency
-- codes, $6 digest of the session that stays
with put as (
    insert into {schema}.second_factors as f (person, sealed, key_name, step)
    select p.person, $2::bytea, $3::bytea, $4::bigint
    from {schema}.people as p
    join {schema}.sessions as s on s.person = p.person and s.digest = $6::bytea
    where p.person = $1::text
    -- Makes concurrent setups and resets of the second factor take turns.
    for update of p, s
    on conflict (person) do update set
        sealed = excluded.sealed, key_name = excluded.key_name, step = excluded.step
    where f.step < excluded.step or f.sealed = excluded.sealed and f.step = excluded.step
    returning f.person
), old as (
    delete from {schema}.emergency_codes as c using put
    where c.person = put.person and c.digest <> all ($5::bytea[])
), added as (
    insert into {schema}.emergency_codes (person, digest)
    select put.person, unnest($5::bytea[]) from put
    on conflict (person, digest) do nothing
), begun as (
    delete from {schema}.begun_sign_ins as b using put where b.person = put.person
), ended as (
    delete from {schema}.sessions as s using put where s.person = put.person and s.digest <> $6::bytea
), proven as (
    update {schema}.sessions as s set by_code = true
    from put where s.person = put.person and s.digest = $6::bytea
)
select put.person from put
