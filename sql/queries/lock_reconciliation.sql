-- Held by the session until it ends, so that a run that is killed leaves nothing behind.
select pg_try_advisory_lock(4919505, 1)
