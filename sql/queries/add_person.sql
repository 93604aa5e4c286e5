-- Returns no row if another person already has the address.
-- $1 person, $2 e-mail address, $3 now
with added as (
    insert into {schema}.people (person, email, created_at)
    values ($1::text, $2::text, $3::bigint)
    on conflict (email) do nothing
    returning person
), unchanged as (
    -- The reply to an earlier attempt may have been lost.
    select person from {schema}.people where person = $1::text and email = $2::text
    -- Locks the row, as in find_added_intake.
    for update
)
select person from added
union all
select person from unchanged
