-- 1 project, 2 environment
select count(*)
from {schema}.unclaimed as u
where u.project = $1::text and u.environment = $2::text
