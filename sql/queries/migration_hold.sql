-- Until the session releases the lock, no other process changes the schema.
select pg_try_advisory_lock(4919504103391558)
