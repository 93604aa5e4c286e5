-- $1 instant before which the omitted keys expired
select digest, project, key_id, role from {schema}.keys
where revoked_at is null and (expires_at is null or expires_at > $1::bigint)
