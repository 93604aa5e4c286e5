-- Adds a question about the newest purchase of each customer in the shard who has a purchase in the app.
-- $1 shard, $2 project, $3 store, $4 app, $5 environment, or null for both, $6 reason why the history is known to have
-- gaps
insert into {schema}.history_questions as q
    (project, store, app, environment, original, customer, newest_at, obstacle)
select distinct on (p.customer, p.environment)
    p.project, p.store, p.app, p.environment, p.original, p.customer, p.purchased_at, $6::text
from {schema}.purchases as p
where p.shard = $1::smallint and p.project = $2::text and p.store = $3::text and p.app = $4::text
    and ($5::text is null or p.environment = $5::text)
order by p.customer, p.environment, p.purchased_at desc
on conflict (original, project, store, app, environment) do update
set obstacle = coalesce(q.obstacle, excluded.obstacle)
