-- $1 project, $2 environment
select counted_at, counts, items
from {schema}.figures
where project = $1::text and environment = $2::text
