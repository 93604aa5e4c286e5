-- $1 person, $2 project, $3 role
insert into {schema}.person_roles (person, project, role)
select p.person, $2::text, $3::text from {schema}.people as p where p.person = $1::text
on conflict (person, project) do update set role = excluded.role
