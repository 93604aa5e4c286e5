-- Events beyond the shard's head in the same snapshot, with the total number.
-- $1 shard
with head as (
    select s.head from {schema}.shards as s where s.shard = $1::smallint order by s.head desc limit 1
), beyond as (
    select seq, customer, type from {schema}.events
    where shard = $1::smallint and seq > (select head from head)
    union all
    select seq, customer, type from {schema}.events where shard = $1::smallint and seq < 1
)
select seq, customer, type, (select head from head), count(*) over ()
from beyond
order by seq
limit 100
