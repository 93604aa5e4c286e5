-- Does nothing, and returns no row, unless the session was opened with a code.
-- $1 person, $2 digest of the requesting session, or null for an operator
with gone as (
    delete from {schema}.second_factors as f where f.person = $1::text and (
        $2::bytea is null or exists (
            select from {schema}.sessions as s where s.digest = $2::bytea and s.person = f.person and s.by_code
        )
    )
    returning f.person
), codes as (
    delete from {schema}.emergency_codes as c using gone where c.person = gone.person
), begun as (
    delete from {schema}.begun_sign_ins as b using gone where b.person = gone.person
)
select gone.person from gone
