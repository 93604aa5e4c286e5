-- From pages that are chosen at random: about twice as many as are wanted lie on them, and of a small table
-- there are at least a hundred.
-- 1 how many
select {texts}
from {schema}.{table} as t tablesample system (least(100, (
    select greatest(200.0 * $1::bigint / greatest(1, reltuples), 10000.0 / greatest(1, relpages))
    from pg_class where oid = '{schema}.{table}'::regclass
))::double precision)
order by random()
limit $1::bigint
