-- $1 project, $2 webhook, $3 number before which attempts are listed, or null, $4 the only customer, or null, $5 limit
select number, message, type, customer, attempt, at, milliseconds, status, error, answer, replay
from {schema}.webhook_attempts
where project = $1 and webhook = $2 and ($3::bigint is null or number < $3)
    and ($4::text is null or customer = $4)
order by number desc
limit $5::bigint
