-- 1 name, 2 now, 3 until when, 4 the last run that the taker knows of
insert into {schema}.leases as l (name, fence, held_until) values ($1, 1, $3)
on conflict (name) do update set fence = l.fence + 1, held_until = excluded.held_until
-- One that is held for much longer than any may be was written by a wrong clock.
where (l.held_until <= $2 or l.held_until > 2 * $3 - $2) and l.ran_at is not distinct from $4
returning fence
