-- $1 instant before which deleted items ended, $2 limit, $3 the lease's name, $4 its fence
with held as materialized (
    -- Keeps other instances from taking the lease until the transaction ends.
    select from {schema}.leases where name = $3 and fence = $4 for share
)
delete from {schema}.intake where id = any (
    -- An array is computed only once, as in take_intake.
    array(
        select id from {schema}.intake
        where state <> 'waiting' and changed_at < $1 and exists (select from held)
        order by changed_at
        limit $2
        for update skip locked
    )
)
returning id
