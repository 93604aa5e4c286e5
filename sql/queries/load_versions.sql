-- $1 shards, $2 projects, $3 environments, $4 customers, $5 first versions, $6 last versions
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    as wanted (shard, project, environment, customer, first_version, last_version)
cross join lateral (
    select * from {schema}.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer
        and e.version between wanted.first_version and wanted.last_version
        -- The shard is compared as in load_streams. These events are known to lie at or before the head.
        and e.shard + 0 = wanted.shard
    order by e.version
) as e
