-- $1 name, $2 now, $3 end, $4 last run that the requesting instance knows
insert into {schema}.leases as l (name, fence, held_until, session)
-- A new row's fence is higher than the fences of all earlier rows.
values ($1, (extract(epoch from clock_timestamp()) * 1000)::bigint, $3, pg_backend_pid())
on conflict (name) do update
set fence = l.fence + 1, held_until = excluded.held_until, session = excluded.session
where (
    l.held_until <= $2
    -- An end this far in the future was written while a clock was wrong.
    or l.held_until > 2 * $3 - $2
    -- The holder died, or has a new session and must renew the lease.
    or not exists (select from pg_stat_activity as a where a.pid = l.session)
) and l.ran_at is not distinct from $4
returning fence
