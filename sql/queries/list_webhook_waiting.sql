-- $1 project, $2 webhook, $3 limit
select customer, shard, seq, version, part, attempts, due_at, recorded_at
from {schema}.webhook_waiting
where project = $1 and webhook = $2
order by recorded_at, customer
limit $3::bigint
