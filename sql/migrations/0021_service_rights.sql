-- What the service could do and has no need to.

-- A test clock ends every instance of a database that serves the real world, so only the owner makes one, and
-- no one where the real world has left anything.
revoke insert on deed.test_clock from deed_service;

create function deed.refuse_test_clock() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from deed.customers as c where c.environment = 'production')
        or exists (select from deed.holders as h where h.environment = 'production')
        or exists (select from deed.unclaimed as u where u.environment = 'production')
        or exists (select from deed.tokens as t where t.environment = 'production')
        or exists (select from deed.intake as i where i.environment = 'production')
        or exists (
            select from deed.evidence as e
            where e.environment = 'production' and e.verdict = 'believed'
        )
    then
        raise exception 'the database has customers in production' using errcode = 'DD007';
    end if;
    if exists (
        select from deed.store_credentials as s
        where s.address is null and (s.has_key or s.has_shared_secret)
    ) then
        raise exception 'an app has credentials for a real store' using errcode = 'DD008';
    end if;
    return new;
end $$;
create trigger test_clock_is_for_tests before insert on deed.test_clock
    for each row execute function deed.refuse_test_clock();
alter table deed.test_clock enable always trigger test_clock_is_for_tests;
revoke execute on function deed.refuse_test_clock() from public;

-- How many standbys confirm commits, and how many commits of this database have waited for them for long. Which
-- standby is one of those, and what other sessions wait for, is hidden from the service, and all else of other
-- sessions stays so. Where the owner may not see it either, each standby that is there counts.
create function deed.standbys(out confirming bigint, out waiting bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select (
            select count(*) from pg_catalog.pg_stat_replication as r
            where r.sync_state in ('sync', 'quorum') or r.sync_state is null
        ), (
            select count(*) from pg_catalog.pg_stat_activity as a
            where a.wait_event = 'SyncRep' and a.datname = current_database()
                and a.state_change < clock_timestamp() - interval '2 seconds'
        )
$$;
revoke execute on function deed.standbys() from public;
grant execute on function deed.standbys() to deed_service;
