-- $1 projects, $2 environments, $3 marks
select e.project, e.environment, e.mark, e.customer
from unnest($1::text[], $2::text[], $3::text[]) as wanted (project, environment, mark)
-- Looks up each row individually, as in load_holders.
cross join lateral (
    select * from {schema}.erased_purchases as e
    where e.project = wanted.project and e.environment = wanted.environment and e.mark = wanted.mark
    limit 1
) as e
