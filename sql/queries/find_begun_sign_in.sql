-- $1 digest, $2 latest beginning of an expired sign-in
select p.person, p.email, p.password
from {schema}.begun_sign_ins as b
join {schema}.people as p on p.person = b.person and p.password is not null
where b.digest = $1::bytea and b.begun_at > $2::bigint
