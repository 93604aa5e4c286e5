-- $1 digests
select e.digest, e.kind, e.verdict
from unnest($1::bytea[]) as wanted (digest)
-- Looks up each row individually, as in load_holders.
cross join lateral (
    select * from {schema}.evidence as e where e.digest = wanted.digest limit 1
) as e
