-- 1 delete events that were quarantined before this instant, 2 limit
select {schema}.forget_quarantined($1::bigint, $2::bigint)
