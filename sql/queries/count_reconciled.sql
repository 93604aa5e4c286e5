-- When the project that has waited longest was reconciled or created, and the number of projects that have drifted.
select min(coalesce(reconciled_at, created_at)), count(*) filter (where not is_sound)
from {schema}.projects
