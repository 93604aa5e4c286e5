-- $1 person, $2 project
delete from {schema}.person_roles where person = $1::text and project = $2::text
