-- As sample_customers.
-- 1 how many
select project, environment, token, customer
from deed.tokens tablesample system (least(100, 200.0 * $1::bigint / greatest(1, (
    select reltuples from pg_class where oid = 'deed.tokens'::regclass
))::double precision))
order by random()
limit $1::bigint
