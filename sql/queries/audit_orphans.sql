-- 1 shard, 2 a project, null: all; of whose customers those are left out of whom the log has events, because
-- the row that they lack is a finding of its own
select rows.name, rows.project || ', ' || rows.environment || ', ' || rows.customer, count(*) over ()
from (
    select '{schema}.purchases' as name, project, environment, customer
    from {schema}.purchases where shard = $1::smallint
    union
    select '{schema}.customer_balances', project, environment, customer
    from {schema}.customer_balances where shard = $1::smallint
    union
    select '{schema}.orders', project, environment, customer
    from {schema}.orders where shard = $1::smallint
    union
    select '{schema}.waiting_credits', project, environment, customer
    from {schema}.waiting_credits where shard = $1::smallint
) as rows
where not exists (
    select from {schema}.customers as c
    where c.shard = $1::smallint and c.customer = rows.customer and c.project = rows.project
        and c.environment = rows.environment
)
and ($2::text is null or rows.project = $2::text and not exists (
    select from {schema}.events as e
    where e.customer = rows.customer and e.project = rows.project
        and e.environment = rows.environment and e.version = 1
        and e.shard = $1::smallint and e.seq between 1 and (
            select s.head from {schema}.shards as s where s.shard = $1::smallint
            order by s.head desc limit 1
        )
))
order by 1, 2
limit 100
