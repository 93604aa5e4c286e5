-- $1 name, $2 now
select ran_at,
    held_until > $2 and exists (select from pg_stat_activity as a where a.pid = l.session)
from {schema}.leases as l where name = $1
