-- Counts the data stored about a customer, apart from event headers. Names of purchases without a row are not counted.
-- $1 shard, $2 project, $3 environment, $4 customer, $5 version before which events are counted, or null for all
with own as materialized (
    select e.evidence, e.payload <> '' and e.type <> 'customer.erased' as is_full
    from {schema}.events as e
    where e.customer = $4::text and e.project = $2::text and e.environment = $3::text
        -- `+ 0` keeps the planner from using an index by shard, as in load_streams.
        and e.shard + 0 = $1::smallint and e.version < coalesce($5::bigint, 9223372036854775807)
), bought as materialized (
    select p.store, p.original
    from {schema}.purchases as p
    where p.shard = $1::smallint and p.customer = $4::text and p.project = $2::text
        and p.environment = $3::text
), proofs as materialized (
    select distinct evidence as digest from own where evidence is not null
    union
    select n.digest from bought as b
    join {schema}.evidence_names as n using (store, original)
    where n.project = $2::text and n.environment = $3::text and $5::bigint is null
    union
    select n.digest from {schema}.evidence_names as n
    where n.erased_of = $4::text and n.project = $2::text and n.environment = $3::text
)
select 1, 'events', (select count(*) from own where is_full)
union all
select 2, 'evidence', (
    select count(*) from proofs
    cross join lateral (
        select v.content from {schema}.evidence as v where v.digest = proofs.digest limit 1
    ) as v
    where v.content is not null
)
union all
select 3, 'purchases', (select count(*) from bought)
union all
select 4, 'grants', (
    select count(*) from {schema}.customer_grants as t
    where t.shard = $1::smallint and t.customer = $4::text and t.project = $2::text
        and t.environment = $3::text
)
union all
select 5, 'balances', (
    select count(*) from {schema}.customer_balances as t
    where t.shard = $1::smallint and t.customer = $4::text and t.project = $2::text
        and t.environment = $3::text
)
union all
select 6, 'orders', (
    select count(*) from {schema}.orders as t
    where t.shard = $1::smallint and t.customer = $4::text and t.project = $2::text
        and t.environment = $3::text
)
union all
select 7, 'tokens', (
    select count(*) from {schema}.tokens as t
    where t.customer = $4::text and t.project = $2::text and t.environment = $3::text
)
union all
select 8, 'queued', (
    select count(*) from {schema}.intake as t
    where t.customer = $4::text and t.project = $2::text and t.environment = $3::text
)
order by 1
