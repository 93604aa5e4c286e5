-- 1 the machine's now, where the clock begins
insert into {schema}.test_clock (stands_at, marked_at) values ($1::bigint, $1::bigint)
on conflict do nothing
