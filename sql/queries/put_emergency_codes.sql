-- Replaces the emergency codes of a person with a second factor. Leaves codes that are already there, because the reply
-- to an earlier attempt may have been lost.
-- $1 person, $2 digests
with old as (
    delete from {schema}.emergency_codes where person = $1::text and digest <> all ($2::bytea[])
)
insert into {schema}.emergency_codes (person, digest)
select f.person, unnest($2::bytea[]) from {schema}.second_factors as f where f.person = $1::text
on conflict (person, digest) do nothing
