-- $1 the new time, $2 the expected time, or null for any earlier one
update {schema}.test_clock set stands_at = $1::bigint
where stands_at <= $1::bigint and ($2::bigint is null or stands_at = $2::bigint)
returning stands_at
