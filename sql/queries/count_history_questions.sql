-- How many there are, and of how many something is known to be missing.
-- 1 project, 2 store, 3 app
select environment, count(*), count(obstacle)
from {schema}.history_questions
where project = $1::text and store = $2::text and app = $3::text
group by environment
