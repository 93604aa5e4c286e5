-- Returns the stored digest, or null if there are too many replays.
-- $1 project, $2 webhook, $3 replay, $4 digest, $5 event, $6 since, $7 until, $8 types, $9 customer, $10 time of the
-- request, $11 maximum number of replays in progress, $12 instant before which finished replays are deleted
with forgotten as (
    delete from {schema}.webhook_replays
    where project = $1 and webhook = $2 and is_over and asked_at < $12::bigint and replay <> $3
), known as (
    select digest from {schema}.webhook_replays where project = $1 and webhook = $2 and replay = $3
), added as (
    insert into {schema}.webhook_replays as r (
        project, webhook, replay, digest, event, since, until, types, customer, asked_at)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
    where not exists (select from known) and $11::bigint > (
        select count(*) from {schema}.webhook_replays
        where project = $1 and webhook = $2 and not is_over
    )
    -- Keeps the digest. If two requests arrive at once, the first one wins.
    on conflict (project, webhook, replay) do update set replay = excluded.replay
    returning r.digest
)
select digest from known union all select digest from added
