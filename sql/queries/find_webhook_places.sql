-- $1 project, $2 webhook, or null for all
select p.webhook, p.cursor, p.resumptions, p.failing_since, p.parked_at, p.gone_at, p.rests_until,
    p.oldest_at, p.attempts, w.count, w.parked, w.oldest_at
from {schema}.webhook_places as p
cross join lateral (
    select count(*) as count, count(*) filter (where w.due_at is null) as parked,
        min(w.recorded_at) as oldest_at
    from {schema}.webhook_waiting as w
    where w.project = p.project and w.webhook = p.webhook
) as w
where p.project = $1 and ($2::text is null or p.webhook = $2)
