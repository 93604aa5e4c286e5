-- Recent replays, finished or not. $1 project, $2 webhook, $3 limit
select replay, event, since, until, types, customer, cursor, sent, failed, is_over
from {schema}.webhook_replays
where project = $1 and webhook = $2
order by asked_at desc, replay
limit $3::bigint
