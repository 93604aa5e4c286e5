-- 1 e-mail address
select p.person, p.salt, p.password, p.cost from {schema}.people as p
where p.email = $1::text and p.password is not null
