-- Until the transaction ends, no other process changes the schema. The call does not wait, because
-- a waiting session would block an index that the other process builds concurrently.
select pg_try_advisory_xact_lock(4919504103391558)
