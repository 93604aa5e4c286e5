-- $1 person, $2 previous sealed secret, $3 new sealed secret, $4 name of the key
update {schema}.second_factors set sealed = $3::bytea, key_name = $4::bytea
where person = $1::text and sealed = $2::bytea
returning person
