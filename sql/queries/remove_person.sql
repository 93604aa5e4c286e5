-- 1 person
with roles as (
    delete from {schema}.person_roles where person = $1::text
), links as (
    delete from {schema}.person_links where person = $1::text
), ended as (
    delete from {schema}.sessions where person = $1::text
)
delete from {schema}.people where person = $1::text
