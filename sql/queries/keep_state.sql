-- Stores a customer's state unless the customer was erased after it. Does not replace a later state of this log by the
-- same program, or the state of a newer program. If two programs run side by side, the older one reads the events
-- instead. An erasure leaves a newer row behind.
-- $1 shard, $2 project, $3 environment, $4 customer, $5 version, $6 number, $7 content, $8 digest, $9 whether the
-- stored state is known to be damaged
insert into {schema}.kept_states as k (
    shard, project, environment, customer, version, seq, chain, number, content, digest
)
select e.shard, e.project, e.environment, e.customer, e.version, e.seq, e.chain, $6::smallint,
    $7::bytea, $8::bytea
from (
    select * from {schema}.events as e
    where e.customer = $4::text and e.project = $2::text and e.environment = $3::text
        and e.version between $5::bigint and $5::bigint and e.shard + 0 = $1::smallint
        and e.seq + 0 between 1 and (
            select s.head from {schema}.shards as s where s.shard = $1::smallint
            order by s.head desc limit 1
        )
    order by e.version limit 1
) as e
where (
    select e.version from {schema}.events as e
    where e.customer = $4::text and e.project = $2::text and e.environment = $3::text
        and e.type = 'customer.erased' and e.version > $5::bigint
    order by e.version limit 1
) is null
on conflict (shard, customer, project, environment) do update
set (version, seq, chain, number, content, digest) = (
    excluded.version, excluded.seq, excluded.chain, excluded.number, excluded.content,
    excluded.digest
)
where case
    -- An erasure left this row behind.
    when k.number = 0 then k.version < excluded.version
    -- A newer program stores its state every 1,024 events at the latest, unless it no longer runs.
    when k.number > excluded.number then k.version < excluded.version - 2048
    when k.number < excluded.number then true
    else k.version < excluded.version or $9::boolean or (
        select e.version from {schema}.events as e
        where e.customer = k.customer and e.project = k.project
            and e.environment = k.environment and e.version between k.version and k.version
            and e.shard + 0 = k.shard and e.seq + 0 = k.seq and e.chain = k.chain
        order by e.version limit 1
    ) is null
end
