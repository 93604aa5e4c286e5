-- Accepts an emergency code once, or returns no row.
-- $1 person, $2 digest
delete from {schema}.emergency_codes where person = $1::text and digest = $2::bytea
returning person
