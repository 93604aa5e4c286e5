-- Returns one row for each role of the person, or a single row without a role. If the person has a second factor, a
-- session without a code does not count. Records the use of the session, at most once a minute.
-- $1 digest, $2 now, $3 latest start and $4 latest use of an expired session
with live as (
    select s.digest, s.person, s.seen_at, f.person is not null as has_factor
    from {schema}.sessions as s
    left join {schema}.second_factors as f on f.person = s.person
    where s.digest = $1::bytea and (s.by_code or f.person is null)
        and s.started_at > $3::bigint and s.seen_at > $4::bigint
), seen as (
    update {schema}.sessions as s set seen_at = $2::bigint
    from live where s.digest = live.digest and live.seen_at < $2::bigint - 60000
)
select p.person, p.email, r.project, r.role, live.has_factor
from live
join {schema}.people as p on p.person = live.person and p.password is not null
left join {schema}.person_roles as r on r.person = live.person
order by r.project
