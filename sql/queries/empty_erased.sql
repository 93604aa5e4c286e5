-- $1 shard, $2 project, $3 environment, $4 customer, $5 version after which to start, $6 number of events
select {schema}.empty_erased($1::smallint, $2::text, $3::text, $4::text, $5::bigint, $6::bigint)
