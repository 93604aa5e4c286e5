-- Until the end of the transaction, no other process changes the schema. It does not wait: a waiting session would be
-- in the way of an index that the other process builds concurrently.
select pg_try_advisory_xact_lock(4919504103391558)
