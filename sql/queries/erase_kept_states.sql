-- Removes the kept states of erased customers. An empty row takes each state's place. Because this row
-- is newer, another session cannot store an older state. Only long streams have kept states.
-- $1 shards, $2 projects, $3 environments, $4 customers
insert into {schema}.kept_states (
    shard, project, environment, customer, version, seq, chain, number, content, digest
)
select gone.shard, gone.project, gone.environment, gone.customer, e.version, e.seq, e.chain, 0, '', ''
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as gone (shard, project, environment, customer)
cross join lateral (
    select e.version, e.seq, e.chain from {schema}.events as e
    where e.customer = gone.customer and e.project = gone.project
        and e.environment = gone.environment and e.version >= 256 and e.shard + 0 = gone.shard
    order by e.version desc limit 1
) as e
on conflict (shard, customer, project, environment) do update
set (version, seq, chain, number, content, digest) = (
    excluded.version, excluded.seq, excluded.chain, excluded.number, excluded.content,
    excluded.digest
)
