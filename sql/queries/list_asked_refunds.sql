-- Project parts with refund requests that have not been reported on. 1 omit those to be answered by this instant
select distinct c.project, c.environment
from {schema}.customers as c
where c.answer_by is not null and c.answer_by > $1::bigint
order by 1, 2
