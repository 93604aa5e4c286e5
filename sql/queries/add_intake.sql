-- 1 id, 2 project, 3 purpose, 4 customer, 5 order, 6 environment, 7 kind, 8 app, 9 digest, 10 evidence,
-- 11 now, 12 most items, 13 most bytes
insert into {schema}.intake (
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
on conflict do nothing
returning id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries, next_try_at,
    code, sentence, results, actor, reason, ticket, added_at, changed_at, revision
