-- $1 shards, $2 known positions, $3 the only wanted project, or null, $4 whether content is wanted, $5 limit after each
-- position, $6 whether content is wanted for customers' events only
select known.shard, s.head, s.chain, known.number,
    e.seq, e.project, e.environment, e.customer, e.version, e.type,
    content.payload, content.format, content.chain, content.occurred_at, content.recorded_at,
    content.actor, content.cause, content.catalog_version
from unnest($1::smallint[], $2::bigint[], $3::text[], $4::boolean[], $5::bigint[], $6::boolean[])
    with ordinality as known (shard, seq, project, is_whole, page, is_of_customers, number)
-- Reads the newest version, as in lock_shards.
cross join lateral (
    select s.head, s.chain from {schema}.shards as s where s.shard = known.shard
    order by s.head desc limit 1
) as s
left join lateral (
    (
        select * from {schema}.events as e
        where known.project is null
            and e.shard = known.shard and e.seq > known.seq and e.seq <= s.head
        order by e.seq
        limit known.page
    )
    union all
    (
        select * from (
            select * from {schema}.events as e
            -- The index by project is the only one that supports a comparison of whole keys. Otherwise, the planner
            -- might choose the primary key while all events belong to one project. With a whole key as upper bound, the
            -- scan would stop only after all later rows of the project. The limit stops it earlier, because the shard
            -- has gained no more rows than that.
            where (e.project, e.shard, e.seq) > (known.project, known.shard, known.seq)
                and e.project <= known.project
            order by e.project, e.shard, e.seq
            limit least(known.page, greatest(s.head - known.seq, 0))
        ) as e
        where e.shard = known.shard and e.seq <= s.head
    )
) as e on true
left join lateral (
    select e.payload, e.format, e.chain, e.occurred_at, e.recorded_at, e.actor, e.cause,
        e.catalog_version
) as content on known.is_whole and not (known.is_of_customers and starts_with(e.customer, '$'))
where s.head <> known.seq
order by known.number, e.seq
