-- $1 number, $2 name, $3 digest, $4 now
insert into {schema}.migrations (number, name, digest, applied_at)
values ($1::bigint::integer, $2::text, $3::bytea, $4::bigint)
