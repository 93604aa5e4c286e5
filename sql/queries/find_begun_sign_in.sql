-- 1 digest, 2 a sign-in is over if it began then or earlier
select p.person, p.email, p.password
from {schema}.begun_sign_ins as b
join {schema}.people as p on p.person = b.person and p.password is not null
where b.digest = $1::bytea and b.begun_at > $2::bigint
