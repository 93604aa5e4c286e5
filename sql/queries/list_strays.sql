-- Events with an invalid shard number.
select e.shard::bigint, e.seq, e.customer, e.type, count(*) over ()
from {schema}.events as e
where e.shard < 0 or e.shard > 63
order by e.shard, e.seq
limit 100
