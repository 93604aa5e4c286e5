select distinct e.project
from {schema}.events as e
join (select shard, max(head) as head from {schema}.shards group by shard) as s using (shard)
where e.customer = '$project/' and e.seq between 1 and s.head
order by e.project
