-- Replaces the emergency codes of a person with a second factor.
-- $1 person, $2 digests
with old as (
    delete from {schema}.emergency_codes where person = $1::text
)
insert into {schema}.emergency_codes (person, digest)
select f.person, unnest($2::bytea[]) from {schema}.second_factors as f where f.person = $1::text
