-- 1 person, 2 sealed so far, 3 sealed, 4 name of the key
update {schema}.second_factors set sealed = $3::bytea, key_name = $4::bytea
where person = $1::text and sealed = $2::bytea
returning person
