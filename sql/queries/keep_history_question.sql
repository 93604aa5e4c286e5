-- Writes only for a purchase that has a holder, as in keep_history.
-- $1 project, $2 store, $3 app, $4 environment, $5 original, $6 customer, $7 newest purchase, $8 obstacle
insert into {schema}.history_questions
    (project, store, app, environment, original, customer, newest_at, obstacle)
select h.project, h.store, h.app, h.environment, h.original, $6::text, $7::bigint, left($8::text, 1000)
from {schema}.holders as h
where h.original = $5::text and h.project = $1::text and h.store = $2::text and h.app = $3::text
    and h.environment = $4::text
for key share of h
on conflict (original, project, store, app, environment) do update
set obstacle = excluded.obstacle
