-- Creates the row, so that it can be locked. The items follow.
-- $1 project, $2 environment, $3 instant of the count, $4 counts
insert into {schema}.figures (project, environment, counted_at, counts, items)
values ($1::text, $2::text, $3::bigint, $4::json, '[]')
on conflict (project, environment) do nothing
