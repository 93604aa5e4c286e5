-- Rows are written in key order, so that two instances never deadlock.
-- $1 projects, $2 keys, $3 hours
insert into {schema}.key_uses as known (project, key_id, used_at)
select project, key_id, used_at
from unnest($1::text[], $2::text[], $3::bigint[]) as noted (project, key_id, used_at)
order by project, key_id
on conflict (project, key_id) do update set used_at = excluded.used_at
where known.used_at < excluded.used_at
