-- $1 projects, $2 instants, $3 ids, $4 keys, $5 calls, $6 customers, $7 environments, $8 statuses, $9 codes, $10 reasons, $11 tickets
insert into {schema}.refused_calls
    (project, at, id, key_id, call, customer, environment, status, code, reason, ticket)
select c.* from unnest(
    $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::smallint[],
    $9::text[], $10::text[], $11::text[]
) as c (project, at, id, key_id, call, customer, environment, status, code, reason, ticket)
-- An instance may write a call just after its customer was erased.
where not exists (
    select from {schema}.events as e
    where e.customer = c.customer and e.project = c.project
        and e.environment = coalesce(c.environment, e.environment)
        and e.type = 'customer.erased' and e.recorded_at >= c.at
)
on conflict do nothing
