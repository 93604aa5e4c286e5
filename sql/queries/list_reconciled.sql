-- $1 project, $2 reconciliation
select step, shard, looked_at, found, mended, is_done from {schema}.reconciled
where project = $1::text and reconciliation = $2::text
