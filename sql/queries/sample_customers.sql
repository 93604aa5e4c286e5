-- From pages that are chosen by chance: about twice as many as are wanted lie on them.
-- 1 how many
select project, environment, customer
from deed.customers tablesample system (least(100, 200.0 * $1::bigint / greatest(1, (
    select reltuples from pg_class where oid = 'deed.customers'::regclass
))::double precision))
order by random()
limit $1::bigint
