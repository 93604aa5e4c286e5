-- $1 digest of the link, $2 now
select p.person, p.email
from {schema}.person_links as l
join {schema}.people as p on p.person = l.person
where l.digest = $1::bytea and l.ends_at > $2::bigint
