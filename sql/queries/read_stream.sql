-- 1 shard, 2 project, 3 environment, 4 customer, 5 version already known
select s.head, s.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version
from deed.shards as s
left join lateral (
    select * from deed.events as e
    where e.shard = s.shard and e.project = $2::text and e.environment = $3::text
        and e.customer = $4::text and e.version > $5::bigint
    order by e.version
) as e on true
where s.shard = $1::smallint
