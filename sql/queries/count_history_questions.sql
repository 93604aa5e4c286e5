-- The number of questions, and the number of questions about histories with known gaps.
-- $1 project, $2 store, $3 app
select environment, count(*), count(obstacle)
from {schema}.history_questions
where project = $1::text and store = $2::text and app = $3::text
group by environment
