-- When the project that has waited longest was reconciled or created, and the number of projects that have drifted.
-- $1 now, $2 name of the nightly job
select min(
        case
            when p.since <= $1::bigint + 86400000 then p.since
            -- A clock was far ahead when this was recorded, and the log's time never decreases.
            else coalesce(
                (select l.ran_at from {schema}.leases as l
                    where l.name = $2::text and l.ran_at <= $1::bigint + 86400000),
                least(p.created_at, $1::bigint))
        end),
    count(*) filter (where not p.is_sound)
from (
    select coalesce(reconciled_at, created_at) as since, created_at, is_sound
    from {schema}.projects
) as p
