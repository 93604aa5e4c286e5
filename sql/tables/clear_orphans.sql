-- Deletes the rows that list_orphans finds, for one project.
-- $1 shard, $2 project
delete from {schema}.{table} as t
where t.shard = $1::smallint and t.project = $2::text and not exists (
    select from {schema}.customers as c
    where c.shard = $1::smallint and c.customer = t.customer and c.project = t.project
        and c.environment = t.environment
) and not exists (
    select from {schema}.events as e
    where e.customer = t.customer and e.environment = t.environment and e.version = 1
        -- Only the index of streams supports this comparison.
        and e.project || '' = t.project and e.shard + 0 = $1::smallint and e.seq between 1 and (
            select s.head from {schema}.shards as s where s.shard = $1::smallint
            order by s.head desc limit 1
        )
    -- Looks up each row individually.
    offset 0
)
