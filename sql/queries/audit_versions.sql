-- Customers whose row has a wrong number of events, and streams with a missing version.
-- $1 shard
select project, environment, customer, c.version, e.last, e.count, count(*) over ()
from (
    select project, environment, customer, version
    from {schema}.customers where shard = $1::smallint
) as c
full join (
    select project, environment, customer, max(version) as last, count(*) as count
    from {schema}.events
    where shard = $1::smallint and seq between 1 and (
        select s.head from {schema}.shards as s where s.shard = $1::smallint
        order by s.head desc limit 1
    )
    group by project, environment, customer
) as e using (project, environment, customer)
where e.last is distinct from e.count
    -- A project's own stream has no row in `customers`.
    or (c.version is distinct from e.last and customer <> '$project/')
order by project, environment, customer
limit 100
