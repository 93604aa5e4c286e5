-- The bytes of each of Deed's tables and indexes, and PostgreSQL's last row count; null before the first count.
select t.relname, null, pg_table_size(t.oid), nullif(greatest(t.reltuples, -1), -1)::bigint
from pg_class as t join pg_namespace as n on n.oid = t.relnamespace
where n.nspname = '{schema}' and t.relkind = 'r'
union all
select t.relname, i.relname, pg_relation_size(i.oid), nullif(greatest(i.reltuples, -1), -1)::bigint
from pg_index as x
join pg_class as i on i.oid = x.indexrelid
join pg_class as t on t.oid = x.indrelid
join pg_namespace as n on n.oid = t.relnamespace
where n.nspname = '{schema}' and t.relkind = 'r'
