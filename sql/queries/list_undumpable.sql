-- Tables that this login may not dump.
-- $1 the schema's name
select c.relname::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = $1::text and c.relkind in ('r', 'S', 'v') and not has_table_privilege(session_user, c.oid, 'select')
order by c.relname
