-- The clock of a database that was made to be tested: one row where there is one, and none where the
-- machine's clock counts. Once there, it stays, and goes forward only.
create table deed.test_clock (
    only_one boolean primary key default true check (only_one),
    stands_at bigint not null,
    -- By the machine's clock.
    marked_at bigint not null
);

create function deed.keep_test_clock() returns trigger language plpgsql as $$
begin
    raise exception 'a test clock stays and goes forward only: % on %.% is refused', tg_op,
        tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'use another database to begin again';
end $$;
create trigger test_clock_goes_forward before update on deed.test_clock
    for each row when (new.stands_at < old.stands_at or new.marked_at <> old.marked_at)
    execute function deed.keep_test_clock();
create trigger test_clock_stays before delete on deed.test_clock
    for each row execute function deed.keep_test_clock();
create trigger test_clock_is_not_emptied before truncate on deed.test_clock
    for each statement execute function deed.keep_test_clock();
alter table deed.test_clock enable always trigger test_clock_goes_forward;
alter table deed.test_clock enable always trigger test_clock_stays;
alter table deed.test_clock enable always trigger test_clock_is_not_emptied;
grant select, insert on deed.test_clock to deed_service;
grant update (stands_at) on deed.test_clock to deed_service;

-- What time it is for Deed.
create function deed.now() returns timestamptz language sql stable parallel safe
security definer set search_path = pg_catalog as $$
    select coalesce((select deed.instant(c.stands_at) from deed.test_clock as c), pg_catalog.now())
$$;

-- As before, but at the instant that it is for Deed where none is named.
create or replace function deed.entitled(
    project text, customer text, entitlement text, at timestamptz default deed.now(),
    environment text default 'production'
) returns boolean language sql stable parallel safe
security definer set search_path = pg_catalog as $$
    select coalesce(
        (
            select (c.runs ->> $3)::int8multirange @> floor(extract(epoch from $4) * 1000)::bigint
            from deed.customers as c
            where c.shard = deed.shard_of($1, $5, $2)
                and c.project = $1 and c.environment = $5 and c.customer = $2
        ),
        false)
$$;
