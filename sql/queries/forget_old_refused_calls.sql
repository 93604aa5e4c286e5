-- Deletes refused calls that are too old, in every project.
-- $1 instant of the oldest call to keep, $2 limit
with gone as (
    delete from {schema}.refused_calls as r where r.ctid = any (
        array(
            select old.place
            from {schema}.projects as p
            cross join lateral (
                select c.ctid as place from {schema}.refused_calls as c
                where c.project = p.project and c.at < $1::bigint
                limit $2::bigint
            ) as old
            limit $2::bigint
        )
    )
    returning true
)
select count(*) from gone
