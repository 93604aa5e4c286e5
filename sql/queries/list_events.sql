-- 1 project, 2 environment, 3 customer, 4 after which version, 5 how many
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version
from deed.events as e
where e.project = $1::text and e.environment = $2::text
    and e.customer = $3::text and e.version > $4::bigint
order by e.version
limit $5::bigint
