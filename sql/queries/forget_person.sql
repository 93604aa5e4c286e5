-- Deletes the rest, in a statement of its own: only such a statement sees the rows of a setup for which remove_person
-- waited.
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
)
delete from {schema}.emergency_codes where person = $1::text
