-- Accepts the code of a half minute once, or returns no row.
-- $1 person, $2 the sealed secret that made it, $3 step
update {schema}.second_factors set step = $3::bigint
where person = $1::text and sealed = $2::bytea and step < $3::bigint
returning person
