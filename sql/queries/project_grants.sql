-- 1 shards, 2 projects, 3 environments, 4 customers, 5 grants, 6 entitlements, 7 starts, 8 ends,
-- 9 revocations, 10 reasons, 11 tickets
insert into deed.grants (
    shard, project, environment, customer, grant_id, entitlement, starts_at, ends_at, revoked_at,
    reason, ticket
)
select * from unnest(
    $1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::text[], $11::text[]
)
on conflict (shard, project, environment, customer, grant_id) do update
set revoked_at = excluded.revoked_at
