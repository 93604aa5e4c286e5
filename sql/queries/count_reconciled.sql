-- When the project that has waited longest was reconciled or created, and how many projects
-- drifted.
select min(coalesce(reconciled_at, created_at)), count(*) filter (where not is_sound)
from {schema}.projects
