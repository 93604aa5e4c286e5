-- Everything in the shard, including events beyond its head.
-- $1 shard, $2 seq after which to start, $3 limit
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version,
    e.format, e.cause_index, e.digest, e.chain, e.evidence
from {schema}.events as e
where e.shard = $1::smallint and e.seq > $2::bigint
order by e.seq
limit $3::bigint
