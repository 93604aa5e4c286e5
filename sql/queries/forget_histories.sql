-- Deletes the positions in stores' histories that were last written before an instant. The next read then starts over.
-- $1 instant, $2 limit
with gone as (
    delete from {schema}.histories as h where h.ctid = any (
        -- An array is computed only once, as in take_intake.
        array(
            select o.ctid from {schema}.histories as o
            where o.kept_at < $1::bigint
            order by o.kept_at
            limit $2::bigint
            for update skip locked
        )
    )
    returning true
)
select count(*) from gone
