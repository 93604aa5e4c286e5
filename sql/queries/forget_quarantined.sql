-- $1 instant before which deleted events were quarantined, $2 limit
select {schema}.forget_quarantined($1::bigint, $2::bigint)
