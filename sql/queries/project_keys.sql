-- 1 digests, 2 projects, 3 keys, 4 roles, 5 names, 6 creations, 7 revocations
insert into {schema}.keys (digest, project, key_id, role, name, created_at, revoked_at)
select * from unnest(
    $1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[]
)
on conflict (digest) do update set revoked_at = excluded.revoked_at
