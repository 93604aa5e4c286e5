-- The digests of the evidence about a customer, without duplicates.
-- $1 shard, $2 project, $3 environment, $4 customer
select distinct e.evidence as digest
from {schema}.events as e
where e.customer = $4::text and e.project = $2::text and e.environment = $3::text
    -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
    and e.shard + 0 = $1::smallint and e.evidence is not null
union
select n.digest
from {schema}.purchases as p
join {schema}.evidence_names as n using (original, project, environment, store)
where p.shard = $1::smallint and p.customer = $4::text and p.project = $2::text and p.environment = $3::text
order by digest
