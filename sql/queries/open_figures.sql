-- 1 project, 2 environment, 3 as of, 4 the counts
-- Makes the row, so that it can be held. The items follow.
insert into {schema}.figures (project, environment, counted_at, counts, items)
values ($1::text, $2::text, $3::bigint, $4::json, '[]')
on conflict (project, environment) do nothing
