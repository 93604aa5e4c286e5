-- Seals the same secret again, because the reply to an earlier attempt may have been lost.
-- $1 person, $2 previous sealed secret, $3 new sealed secret, $4 name of the key
update {schema}.second_factors set sealed = $3::bytea, key_name = $4::bytea
where person = $1::text and sealed in ($2::bytea, $3::bytea)
returning person
