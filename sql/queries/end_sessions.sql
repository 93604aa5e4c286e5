-- $1 digest of one session, or null; $2 person whose sessions and begun sign-ins all end, or null
with begun as (
    delete from {schema}.begun_sign_ins where person = $2::text
)
delete from {schema}.sessions where digest = $1::bytea or person = $2::text
