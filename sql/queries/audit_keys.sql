-- 1 a project, null: all
select digest::text, project, key_id, role, name, created_at::text, revoked_at::text
from {schema}.keys where $1::text is null or project = $1::text
