-- $1 person, or null for all
select f.person, f.sealed, f.key_name, f.step,
    (select count(*) from {schema}.emergency_codes as c where c.person = f.person)
from {schema}.second_factors as f
where $1::text is null or f.person = $1::text
order by f.person
