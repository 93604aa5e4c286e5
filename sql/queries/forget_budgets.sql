-- Deletes budgets of store calls that were last used or paused before an instant.
-- $1 instant in microseconds, $2 limit
with gone as (
    delete from {schema}.store_budgets as b where b.ctid = any (
        array(
            select o.ctid from {schema}.store_budgets as o
            where o.used_until < $1::bigint and o.rests_until < $1::bigint
            limit $2::bigint
            for update skip locked
        )
    )
    returning true
)
select count(*) from gone
