-- 1 instant before which the item ended, 2 limit
delete from deed.intake where id = any (
    -- As a value, as in take_intake.
    array(
        select id from deed.intake
        where state <> 'waiting' and changed_at < $1
        order by changed_at
        limit $2
        for update skip locked
    )
)
returning id
