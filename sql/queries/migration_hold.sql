-- Until the session gives it back, no other process changes the schema.
select pg_try_advisory_lock(4919504103391558)
