-- How long ago the project was reconciled that waits longest for the next time, and how many drifted.
select min(reconciled_at), count(*) filter (where not is_sound) from deed.projects
