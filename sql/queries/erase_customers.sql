-- Erases data outside the tables derived from the log, and lists the events to empty later. Runs after the events are
-- written and before the purchases are removed.
-- $1 shards, $2 projects, $3 environments, $4 customers
with gone as (
    select * from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
        as gone (shard, project, environment, customer)
), bought as materialized (
    select p.project, p.environment, p.customer, p.store, p.app, p.original
    from gone
    join {schema}.purchases as p using (shard, customer, project, environment)
    union
    -- The former names of a purchase. A token leads to each of these names.
    select p.project, p.environment, p.customer, p.store, p.app, n.original
    from gone
    join {schema}.purchases as p using (shard, customer, project, environment)
    join {schema}.transaction_names as n
        on (n.transaction_id, n.project, n.environment, n.store, n.app, n.customer)
            = (p.original, p.project, p.environment, p.store, p.app, p.customer)
), questions as (
    delete from {schema}.history_questions
    where (customer, project, environment) in (select customer, project, environment from gone)
), asked as (
    delete from {schema}.histories as h using bought as b
    where (h.original, h.project, h.store, h.app, h.environment)
        = (b.original, b.project, b.store, b.app, b.environment)
), queued as (
    delete from {schema}.intake as i using gone as g
    where (i.customer, i.project, i.environment) = (g.customer, g.project, g.environment)
), refused as (
    delete from {schema}.refused_calls as r using gone as g
    where (r.customer, r.project) = (g.customer, g.project)
        and coalesce(r.environment, g.environment) = g.environment
), held as materialized (
    -- Rows are locked in key order, so that two commits never deadlock.
    select f.project, f.environment, f.items
    from {schema}.figures as f
    where (f.project, f.environment) in (select project, environment from gone)
    order by f.project, f.environment
    for update
), counted as (
    update {schema}.figures as f
    set items = (
        select coalesce(json_agg(i.item order by i.place), '[]')
        -- A damaged row must not hold up an erasure.
        from json_array_elements(case json_typeof(h.items) when 'array' then h.items else '[]' end)
            with ordinality as i (item, place)
        where (i.item ->> 'customer', h.project, h.environment)
            not in (select customer, project, environment from gone)
            and (i.item ->> 'purchase', h.project, h.environment)
                not in (select store || ':' || original, project, environment from bought)
    )
    from held as h
    where (f.project, f.environment) = (h.project, h.environment)
), named as (
    update {schema}.evidence_names as n set erased_of = b.customer from bought as b
    where (n.original, n.project, n.environment, n.store)
        = (b.original, b.project, b.environment, b.store)
)
insert into {schema}.emptying (shard, project, environment, customer, version)
select g.shard, g.project, g.environment, g.customer, (
    select max(e.version) from {schema}.events as e
    where e.customer = g.customer and e.project = g.project and e.environment = g.environment
        and e.type = 'customer.erased'
)
from gone as g
on conflict (shard, customer, project, environment) do update set version = excluded.version
