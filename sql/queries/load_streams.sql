-- 1 projects, 2 environments, 3 customers, 4 versions already known
select e.shard, e.seq, e.project, e.environment, e.customer, e.version, e.type, e.payload,
    e.occurred_at, e.recorded_at, e.actor, e.cause, e.cause_digest, e.catalog_version
from (
    select unnest($1::text[]) as project, unnest($2::text[]) as environment,
        unnest($3::text[]) as customer, unnest($4::bigint[]) as version
) as wanted
cross join lateral (
    select * from deed.events as e
    where e.project = wanted.project and e.environment = wanted.environment
        and e.customer = wanted.customer and e.version > wanted.version
    order by e.version
) as e
