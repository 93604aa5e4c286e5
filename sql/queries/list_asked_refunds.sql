-- Where refund requests are not reported on yet. 1 not answered by
select distinct c.project, c.environment
from {schema}.customers as c
where c.answer_by is not null and c.answer_by > $1::bigint
order by 1, 2
