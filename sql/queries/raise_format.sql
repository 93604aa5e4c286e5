-- $1 the log's new format, $2 release, $3 now, $4 whether to raise it only while the log is empty
update {schema}.format
set number = $1::smallint, program = $2::text, raised_at = $3::bigint
where number < $1::smallint and (not $4::boolean or not exists (select from {schema}.events))
