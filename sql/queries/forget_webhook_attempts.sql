-- Deletes attempts to send messages that are too old, for every webhook.
-- $1 instant of the oldest attempt to keep, $2 limit
with gone as (
    delete from {schema}.webhook_attempts as t where t.ctid = any (
        array(
            select a.ctid
            from {schema}.webhook_places as p
            -- Reads only the oldest attempts of each webhook, because no index has the instants.
            cross join lateral (
                select o.number from {schema}.webhook_attempts as o
                where o.project = p.project and o.webhook = p.webhook
                order by o.number
                limit $2::bigint
            ) as oldest
            join {schema}.webhook_attempts as a
                on a.project = p.project and a.webhook = p.webhook and a.number = oldest.number
            where a.at < $1::bigint
            limit $2::bigint
            for update of a skip locked
        )
    )
    returning true
)
select count(*) from gone
