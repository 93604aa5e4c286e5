-- The customers' kept states, and whether they belong to this log.
-- $1 shards, $2 projects, $3 environments, $4 customers, $5 number of the format to read
select k.project, k.environment, k.customer, k.version, sha256(k.content), k.digest,
    coalesce(e.seq = k.seq and e.chain = k.chain, false)
-- Looks up each row individually, as in load_holders.
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
cross join lateral (
    select * from {schema}.kept_states as k
    where k.shard = wanted.shard and k.customer = wanted.customer and k.project = wanted.project
        and k.environment = wanted.environment and k.number = $5::smallint
    limit 1
) as k
left join lateral (
    select e.seq, e.chain from {schema}.events as e
    where e.customer = k.customer and e.project = k.project and e.environment = k.environment
        and e.version between k.version and k.version and e.shard + 0 = k.shard
    order by e.version limit 1
) as e on true
