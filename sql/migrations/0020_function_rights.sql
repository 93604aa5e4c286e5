-- A function runs what its names lead to. PostgreSQL looks into pg_temp first unless a search path names it, so
-- every function names it last, or has a body that was read when the function was made and looks for nothing
-- when it is called. No function but one of 0021 runs with the owner's rights.

-- Views call these for each row: a body of this kind, not strict and as stable as it is called, is made a part of
-- the query. What is not in the years 1 to 9999 is one of a timestamp's infinities.
create or replace function deed.instant(milliseconds bigint) returns timestamptz
language sql stable parallel safe
return case
    when milliseconds < -62135596800000 then '-infinity'::timestamptz
    when milliseconds >= 253402300800000 then 'infinity'::timestamptz
    else 'epoch'::timestamptz + milliseconds / 1000 * interval '1 second'
        + milliseconds % 1000 * interval '1 millisecond'
end;

create or replace function deed.instant(written text) returns timestamptz
language sql stable parallel safe
return case
    when written like '-%' or written like '0000%' then '-infinity'
    when written like '+%' then 'infinity'
    else written
end::timestamptz;

-- With the rights of who asks: the views and the clock may be read by those who may ask.
create or replace function deed.now() returns timestamptz language sql stable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select coalesce((select deed.instant(c.stands_at) from deed.test_clock as c), pg_catalog.now())
$$;

create or replace function deed.entitled(
    project text, customer text, entitlement text, at timestamptz default deed.now(),
    environment text default 'production'
) returns boolean language sql stable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select exists (
        select from deed.entitlements as e
        where e.project = $1 and e.environment = $5 and e.customer = $2 and e.entitlement = $3
            and (e.starts_at is null or e.starts_at <= $4)
            and (e.ends_at is null or $4 < e.ends_at))
$$;

alter function deed.refuse_change() set search_path = pg_catalog, pg_temp;
alter function deed.refuse_change_of_log() set search_path = pg_catalog, pg_temp;
alter function deed.keep_test_clock() set search_path = pg_catalog, pg_temp;
alter function deed.shard_of(text, text, text) set search_path = pg_catalog, pg_temp;
alter function deed.every_shard() set search_path = pg_catalog, pg_temp;
alter function deed.claim_apps(text[], text[], text[], bigint[], text[], boolean[])
    set search_path = pg_catalog, pg_temp;
alter function deed.claim_orders(text[], text[], text[], text[])
    set search_path = pg_catalog, pg_temp;
alter function deed.claim_tokens(text[], text[], text[], text[])
    set search_path = pg_catalog, pg_temp;
alter function deed.await_tokens(text[], text[], text[], text[], text[], text[])
    set search_path = pg_catalog, pg_temp;
alter function deed.guard_tokens(text[], text[]) set search_path = pg_catalog, pg_temp;

-- Whoever selects from a view calls its functions with rights of their own. Without usage of the schema no right
-- in it counts, so these are for each role that was given that. None of them tells more than the views do.
revoke execute on all functions in schema deed from public;
grant execute on function deed.instant(bigint), deed.instant(text), deed.every_shard(), deed.now(),
    deed.entitled(text, text, text, timestamptz, text) to public;
grant select on deed.test_clock to public;
