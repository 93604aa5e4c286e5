-- $1 shard of the project's own stream, $2 project, $3 newest wanted version, $4 instant before which the wanted
-- editions applied, $5 limit
with changes as (
    select e.version, e.recorded_at, row_number() over (order by e.version) as number
    from {schema}.events as e
    where e.project = $2::text and e.environment = 'production' and e.customer = '$project/'
        and e.type = 'catalog.changed'
        -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
        and e.shard + 0 = $1::smallint
        and e.seq between 1 and (
            select s.head from {schema}.shards as s where s.shard = $1::smallint
            order by s.head desc limit 1
        )
), wanted as (
    select c.version from changes as c
    where c.number >= least(
        $3::bigint, (select count(*) from changes as c where c.recorded_at < $4::bigint))
    order by c.version
    limit $5::bigint
)
select e.recorded_at, e.payload, e.format
from wanted as w
cross join lateral (
    select * from {schema}.events as e
    where e.project = $2::text and e.environment = 'production' and e.customer = '$project/'
        and e.version = w.version and e.shard + 0 = $1::smallint
) as e
order by w.version
