-- How many questions there are, and how many of them have something known to be missing.
-- 1 project, 2 store, 3 app
select environment, count(*), count(obstacle)
from {schema}.history_questions
where project = $1::text and store = $2::text and app = $3::text
group by environment
