-- The digest of the evidence behind one event.
-- $1 shard, $2 project, $3 environment, $4 customer, $5 version
select e.evidence
from {schema}.events as e
where e.project = $2::text and e.environment = $3::text and e.customer = $4::text
    -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
    and e.shard + 0 = $1::smallint
    and e.version = $5::bigint and e.evidence is not null
