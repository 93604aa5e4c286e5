-- As sample_customers.
-- 1 how many
select project, environment, token, store, original, app
from {schema}.unclaimed_tokens tablesample system (least(100, (
    select greatest(200.0 * $1::bigint / greatest(1, reltuples), 10000.0 / greatest(1, relpages))
    from pg_class where oid = '{schema}.unclaimed_tokens'::regclass
))::double precision)
order by random()
limit $1::bigint
