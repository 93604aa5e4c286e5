-- $1 e-mail address
select p.person, p.salt, p.password, p.cost,
    exists (select from {schema}.second_factors as f where f.person = p.person)
from {schema}.people as p
where p.email = $1::text and p.password is not null
