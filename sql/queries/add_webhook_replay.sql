-- 1 project, 2 webhook, 3 replay, 4 digest, 5 event, 6 since, 7 until, 8 types, 9 customer, 10 how many may be under
-- way. Answers the digest of what is there, and null where there are too many.
with known as (
    select digest from {schema}.webhook_replays where project = $1 and webhook = $2 and replay = $3
), added as (
    insert into {schema}.webhook_replays (
        project, webhook, replay, digest, event, since, until, types, customer)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9
    where not exists (select from known) and $10::bigint > (
        select count(*) from {schema}.webhook_replays
        where project = $1 and webhook = $2 and not is_over
    )
    on conflict (project, webhook, replay) do nothing
    returning digest
)
select digest from known union all select digest from added
