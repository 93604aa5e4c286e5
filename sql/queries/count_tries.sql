-- Counts one more sign-in attempt for a name, and returns the number of attempts and when they began. An expired count
-- starts again. Other expired counts are deleted, a few at a time.
-- $1 name as a digest, $2 now, $3 instant before which expired counts began, $4 the name that is tried from an address,
-- or null
with old as (
    delete from {schema}.sign_in_tries as t where t.who in (
        select o.who from {schema}.sign_in_tries as o
        where o.since < $3::bigint and o.who <> $1::bytea
        limit 100
        for update skip locked
    )
)
insert into {schema}.sign_in_tries as t (who, name, since, count)
values ($1::bytea, $4::bytea, $2::bigint, 1)
on conflict (who) do update set
    since = case when t.since < $3::bigint then excluded.since else t.since end,
    count = case when t.since < $3::bigint then 1 else t.count + 1 end
returning t.count, t.since
