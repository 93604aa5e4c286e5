-- Samples random pages. These hold about twice as many rows as requested, and at least a hundred in a small table.
-- $1 limit
select {texts}
from {schema}.{table} as t tablesample system (least(100, (
    select greatest(200.0 * $1::bigint / greatest(1, reltuples), 10000.0 / greatest(1, relpages))
    from pg_class where oid = '{schema}.{table}'::regclass
))::double precision)
order by random()
limit $1::bigint
