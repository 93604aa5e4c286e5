-- 1 a project, null: all
select project, created_at::text, catalog_version::text, reconciled_at::text, is_sound::text, requested_at::text
from {schema}.projects
where $1::text is null or project = $1::text
