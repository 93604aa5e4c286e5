-- Deletes leases that no instance has held since an instant. If the job runs again, its new row has a higher fence.
-- $1 instant, $2 limit
with gone as (
    delete from {schema}.leases as l where l.ctid = any (
        array(
            select o.ctid from {schema}.leases as o
            -- If a lease was given up without ever completing a run, no time is known, and its row
            -- stays.
            where o.held_until < $1::bigint and coalesce(o.ran_at, nullif(o.held_until, 0)) < $1::bigint
            limit $2::bigint
            for update skip locked
        )
    )
    returning true
)
select count(*) from gone
