declare unnamed_evidence no scroll cursor with hold for
select digest from {schema}.evidence
except
select e.evidence
from {schema}.events as e
join (select shard, max(head) as head from {schema}.shards group by shard) as s using (shard)
where e.evidence is not null and e.seq between 1 and s.head
