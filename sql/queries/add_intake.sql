-- If evidence is already waiting and is sent again with an order, the waiting item gets that order. Because the item's
-- revision changes, a worker that took it without the order leaves it to the next worker. Returns no row if the id is
-- already there: the reply to an earlier attempt was lost, and a worker may have ended the item since.
-- $1 id, $2 project, $3 purpose, $4 customer, $5 order, $6 environment, $7 kind, $8 app, $9 digest, $10 evidence,
-- $11 now, $12 maximum number of items, $13 maximum number of bytes
with named as (
    -- Separate from the insert, because it needs no room in the queue.
    update {schema}.intake set order_id = $5::text, revision = revision + 1
    where $5::text is not null and order_id is null and state = 'waiting'
        and project = $2::text and digest = $9::bytea and purpose = $3::text
        and environment = $6::text and coalesce(customer, '') = coalesce($4::text, '')
    returning id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries,
        next_try_at, code, sentence, results, actor, reason, ticket, added_at, changed_at, revision
),
added as (
    insert into {schema}.intake as waiting (
        id, project, purpose, customer, order_id, environment, kind, app, digest, evidence, state,
        next_try_at, added_at, changed_at
    )
    select $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::bytea,
        $10::bytea, 'waiting', $11::bigint, $11::bigint, $11::bigint
    from (
        select count(*) as items, coalesce(sum(octet_length(evidence)), 0) as bytes
        from {schema}.intake where project = $2::text and state = 'waiting'
    ) as queue
    where queue.items < $12::bigint and queue.bytes + octet_length($10::bytea) <= $13::bigint
        and not exists (select from named)
        and not exists (select from {schema}.intake as same where same.id = $1::text)
    -- Another sender may have just added the same evidence.
    on conflict (project, digest, purpose, environment, (coalesce(customer, ''))) where state = 'waiting'
    do update set order_id = excluded.order_id, revision = waiting.revision + 1
        where waiting.order_id is null and excluded.order_id is not null
    returning id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries,
        next_try_at, code, sentence, results, actor, reason, ticket, added_at, changed_at, revision
)
select * from named
union all
select * from added
