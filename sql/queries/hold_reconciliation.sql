-- Whether this session, and no later one on the same way, holds the lock of reconciliations.
select exists (
    select from pg_locks as l
    where l.locktype = 'advisory' and l.classid = 4919505 and l.objid = 1 and l.objsubid = 2
        and l.granted and l.pid = pg_backend_pid()
        and l.database = (select d.oid from pg_database as d where d.datname = current_database())
)
