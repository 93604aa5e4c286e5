declare unnamed_evidence no scroll cursor with hold for
select digest from deed.evidence
except
select e.evidence
from deed.events as e
join (select shard, max(head) as head from deed.shards group by shard) as s using (shard)
where e.evidence is not null and e.seq between 1 and s.head
