-- $1 person
with roles as (
    delete from {schema}.person_roles where person = $1::text
), links as (
    delete from {schema}.person_links where person = $1::text
), ended as (
    delete from {schema}.sessions where person = $1::text
), begun as (
    delete from {schema}.begun_sign_ins where person = $1::text
), factors as (
    delete from {schema}.second_factors where person = $1::text
), codes as (
    delete from {schema}.emergency_codes where person = $1::text
)
delete from {schema}.people where person = $1::text
