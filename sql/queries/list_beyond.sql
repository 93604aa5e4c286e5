-- What lies beyond the head that the shard has at the same time.
-- 1 shard
select e.seq, e.customer, e.type, s.head
from (
    select s.head from deed.shards as s where s.shard = $1::smallint order by s.head desc limit 1
) as s
cross join lateral (
    select e.seq, e.customer, e.type from deed.events as e
    where e.shard = $1::smallint and e.seq > s.head
    order by e.seq
    limit 100
) as e
