-- 1 project, 2 keep calls since this instant, 3 how many to keep; the oldest are deleted first
delete from {schema}.refused_calls as old
where old.project = $1::text and (
    old.at < $2::bigint
    or (old.at, old.id) <= (
        select r.at, r.id from {schema}.refused_calls as r
        where r.project = $1::text
        order by r.at desc, r.id desc
        offset $3::bigint limit 1
    )
)
