-- The next instant at which access changes or work becomes due without any call; null if there is none.
-- $1 instant after which to search
select min(due.at) from (
    -- This query reads every customer. Only test databases run it, so an index would only slow down writes.
    select boundary.at
    from {schema}.customers as c
    cross join lateral jsonb_each_text(c.runs) as e (entitlement, runs)
    cross join lateral unnest(e.runs::int8multirange) as run
    cross join lateral (values (lower(run)), (upper(run))) as boundary (at)
    where boundary.at > $1::bigint
    union all
    -- Both changes in access and approaching ends are published.
    select min(boundary.at)
    from {schema}.shards as s
    cross join lateral (
        select c.next_boundary_at as at from {schema}.customers as c
        where c.shard = s.shard and c.next_boundary_at > $1::bigint
        order by c.next_boundary_at limit 1
    ) as boundary
    union all
    select min(i.next_try_at) from {schema}.intake as i
    where i.state = 'waiting' and i.next_try_at > $1::bigint
    union all
    -- At this instant, a store stops waiting for a report about a refund.
    select min(c.answer_by) from {schema}.customers as c
    where c.answer_by is not null and c.answer_by > $1::bigint
    union all
    select min(o.expires_at) from {schema}.orders as o
    where o.fulfilled_by is null and o.closed_at is null and o.expires_at > $1::bigint
) as due
