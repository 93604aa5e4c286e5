-- 1 a project, null: all
select store, app, project, apple_id::text, receipts, counts_sandbox::text
from {schema}.apps where $1::text is null or project = $1::text
