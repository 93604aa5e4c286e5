-- Projects and environments with unreported refund requests.
-- $1 instant up to which due requests are left out
select distinct c.project, c.environment
from {schema}.customers as c
where c.answer_by is not null and c.answer_by > $1::bigint
order by 1, 2
