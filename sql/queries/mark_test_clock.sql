-- $1 the machine's current time, at which the clock starts
insert into {schema}.test_clock (stands_at, marked_at) values ($1::bigint, $1::bigint)
on conflict do nothing
