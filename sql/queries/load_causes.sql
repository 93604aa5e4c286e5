-- The events by which streams carried out causes that are not in memory.
-- $1 shards, $2 projects, $3 environments, $4 customers, $5 causes, $6 versions of the last erasures, or 0, $7 known
-- heads of the shards
with wanted as materialized (
    select unnest($1::smallint[]) as shard, unnest($2::text[]) as project,
        unnest($3::text[]) as environment, unnest($4::text[]) as customer,
        unnest($5::text[]) as cause, unnest($6::bigint[]) as erased_at,
        unnest($7::bigint[]) as seen, generate_subscripts($1::smallint[], 1)::bigint as place
), streams as materialized (
    select wanted.shard, wanted.project, wanted.environment, wanted.customer, s.head,
        array_agg(wanted.cause) as causes
    from wanted
    cross join lateral (
        select s.head from {schema}.shards as s
        -- Starts at the known head, as in lock_shards.
        where s.shard = wanted.shard and s.head >= wanted.seen
        order by s.head desc limit 1
    ) as s
    group by wanted.shard, wanted.project, wanted.environment, wanted.customer, s.head
), first as materialized (
    -- The index of causes omits a stream's first events, so these are read once for each stream.
    select streams.project, streams.environment, streams.customer, e.version, e.cause,
        e.cause_digest
    from streams
    cross join lateral (
        -- The shard is compared as in load_streams.
        select e.version, e.cause, e.cause_digest from {schema}.events as e
        where e.customer = streams.customer and e.project = streams.project
            and e.environment = streams.environment and e.version between 1 and 64
            and e.shard + 0 = streams.shard and e.seq + 0 between 1 and streams.head
        order by e.version limit 64
    ) as e
    where e.cause = any (streams.causes)
), found as (
    select wanted.place, wanted.cause, wanted.erased_at, first.version, first.cause_digest
    from wanted
    join first on first.cause = wanted.cause and first.customer = wanted.customer
        and first.project = wanted.project and first.environment = wanted.environment
    union all
    select wanted.place, wanted.cause, wanted.erased_at, later.version, later.cause_digest
    from wanted
    cross join lateral (
        select s.head from {schema}.shards as s
        where s.shard = wanted.shard and s.head >= wanted.seen
        order by s.head desc limit 1
    ) as s
    cross join lateral (
        select e.version, e.cause_digest from {schema}.events as e
        where hashtextextended(e.customer || ' ' || e.cause, 0)
                between hashtextextended(wanted.customer || ' ' || wanted.cause, 0)
                    and hashtextextended(wanted.customer || ' ' || wanted.cause, 0)
            and e.version > 64 and e.cause = wanted.cause
            -- The empty suffixes keep the planner from using the index of streams here.
            and e.customer || '' = wanted.customer and e.project || '' = wanted.project
            and e.environment || '' = wanted.environment
            and e.shard + 0 = wanted.shard and e.seq + 0 between 1 and s.head
        -- The order has an effect only because the condition is a range. One command produces fewer events than this
        -- limit.
        order by hashtextextended(e.customer || ' ' || e.cause, 0) limit 1000000
    ) as later
)
select found.place, min(found.version), max(found.version),
    (array_agg(found.cause_digest order by found.version))[1]
from found
-- After an erasure, a cause from a store or a clock may occur again.
where found.version >= found.erased_at or starts_with(found.cause, 'key:') or starts_with(found.cause, 'piece:')
group by found.place
