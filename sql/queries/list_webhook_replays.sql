-- $1 project, $2 webhook
select replay, event, since, until, types, customer, cursor, sent, failed, is_over
from {schema}.webhook_replays
where project = $1 and webhook = $2 and not is_over
order by replay
