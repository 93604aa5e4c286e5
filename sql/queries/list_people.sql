-- One row for each role, and a single row for a person without a role.
-- $1 e-mail address, or null for all people
select p.person, p.email, p.created_at, p.password is not null, r.project, r.role,
    (select max(s.seen_at) from {schema}.sessions as s where s.person = p.person),
    exists (select from {schema}.second_factors as f where f.person = p.person)
from {schema}.people as p
left join {schema}.person_roles as r on r.person = p.person
where $1::text is null or p.email = $1::text
order by p.email, r.project
