-- Returns no row if a person already has the address.
-- $1 person, $2 e-mail address, $3 now
insert into {schema}.people (person, email, created_at)
values ($1::text, $2::text, $3::bigint)
on conflict (email) do nothing
returning person
