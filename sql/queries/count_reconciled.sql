-- How long ago the project was reconciled, or made, that waits longest for the next time, and how many drifted.
select min(coalesce(reconciled_at, created_at)), count(*) filter (where not is_sound)
from {schema}.projects
