select digest, project, key_id, role from {schema}.keys where revoked_at is null
