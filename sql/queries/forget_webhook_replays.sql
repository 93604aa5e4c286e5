-- Deletes finished replays that are too old, for every webhook.
-- $1 instant before which deleted replays were requested, $2 limit
with gone as (
    delete from {schema}.webhook_replays as r where r.ctid = any (
        array(
            select o.ctid from {schema}.webhook_replays as o
            where o.is_over and o.asked_at < $1::bigint
            limit $2::bigint
            for update skip locked
        )
    )
    returning true
)
select count(*) from gone
