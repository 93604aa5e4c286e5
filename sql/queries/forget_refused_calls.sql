-- Deletes calls that are too old, and the oldest calls beyond a number.
-- $1 project, $2 instant of the oldest call to keep, $3 number of calls to keep
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
