-- 1 shard, 2 project, 3 environment, 4 customer, 5 only events after this version, 6 how many
-- events
select {schema}.empty_erased($1::smallint, $2::text, $3::text, $4::text, $5::bigint, $6::bigint)
