select digest::text, project, key_id, role, name, created_at::text, revoked_at::text from deed.keys
