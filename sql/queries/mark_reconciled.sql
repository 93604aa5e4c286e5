-- $1 project, $2 reconciliation, $3 step, $4 shard, $5 looked at, $6 found, $7 mended, $8 whether it is done
insert into {schema}.reconciled
    (project, reconciliation, step, shard, looked_at, found, mended, is_done)
values (
    $1::text, $2::text, $3::text, $4::smallint, $5::bigint, $6::bigint, $7::bigint, $8::boolean)
on conflict (project, reconciliation, step, shard) do update
set looked_at = excluded.looked_at, found = excluded.found, mended = excluded.mended,
    is_done = excluded.is_done
