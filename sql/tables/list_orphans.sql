-- Rows whose customers have no row in `customers`, one for each customer. For a single project, omits
-- customers with events in the log, because a missing row is a separate finding.
-- $1 shard, $2 project or null for all
select t.project || ', ' || t.environment || ', ' || t.customer, count(*) over ()
from (
    select distinct project, environment, customer from {schema}.{table} where shard = $1::smallint
) as t
where not exists (
    select from {schema}.customers as c
    where c.shard = $1::smallint and c.customer = t.customer and c.project = t.project
        and c.environment = t.environment
)
and ($2::text is null or t.project = $2::text and not exists (
    select from {schema}.events as e
    where e.customer = t.customer and e.environment = t.environment and e.version = 1
        -- Only the index of streams supports this comparison.
        and e.project || '' = t.project and e.shard + 0 = $1::smallint and e.seq between 1 and (
            select s.head from {schema}.shards as s where s.shard = $1::smallint
            order by s.head desc limit 1
        )
    -- Looks up each row individually.
    offset 0
))
order by 1
limit 100
