select digest, project, key_id, role from deed.keys where revoked_at is null
