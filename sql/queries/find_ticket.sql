-- Customers about whom something was done for a ticket, the newest first; and whether there may be more, because only
-- the 1,000 newest events are looked at.
-- 1 project, 2 environments, 3 ticket as JSON, 4 limit
with looked as materialized (
    select e.customer, e.environment, e.recorded_at
    from {schema}.events as e
    where strpos(e.payload, '"ticket":"') > 0
        and hashtextextended(substring(e.payload from '"ticket":("(?:[^"\\]|\\.)*")'), 0)
            = hashtextextended($3::text, 0)
        and strpos(e.payload, '"ticket":' || $3::text) > 0
        and e.project = $1::text and e.environment = any ($2::text[])
        -- Neither what the project did nor a purchase without a customer.
        and not starts_with(e.customer, '$')
        -- Events beyond the head are not part of the log.
        and e.seq <= (
            select s.head from {schema}.shards as s where s.shard = e.shard
            order by s.head desc limit 1
        )
    order by e.recorded_at desc
    limit 1000
)
select l.customer, l.environment, (select count(*) from looked) = 1000
from looked as l
group by l.customer, l.environment
order by max(l.recorded_at) desc, l.environment, l.customer
limit $4::bigint
