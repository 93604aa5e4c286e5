-- 1 project, 2 reconciliation, 3 step, 4 shard, 5 looked at, 6 found, 7 mended
insert into deed.reconciled (project, reconciliation, step, shard, looked_at, found, mended)
values ($1::text, $2::text, $3::text, $4::smallint, $5::bigint, $6::bigint, $7::bigint)
on conflict (project, reconciliation, step, shard) do update
set looked_at = excluded.looked_at, found = excluded.found, mended = excluded.mended
