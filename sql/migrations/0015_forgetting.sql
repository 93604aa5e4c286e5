-- Forgetting what is old: who may delete what. In one transaction, so that a function is never open to everyone.

-- Deletes notifications, a page of what was filed after an instant and before another, if no event rests on them, nor one
-- that was moved aside. Other evidence without an event is a finding of the audit, and stays. Returns up to
-- which instant it has looked, null at the end, and how many pieces went; null for both while a commit may rest on one of
-- them. With the owner's rights, because nothing else may delete evidence, and never what is younger than 200 days: the
-- stores send nothing that is older again.
create or replace function deed.forget_evidence(
    after bigint, before bigint, most bigint, out reached bigint, out gone bigint
) language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    latest constant bigint := least(
        before, (extract(epoch from clock_timestamp()) * 1000)::bigint - 17280000000
    );
    idle bytea[];
    filing text[];
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'each statement in here must see what was committed before it';
    end if;
    select max(page.first_seen_at),
        array_agg(page.digest) filter (
            where page.is_whole and named.seq is null and not exists (
                select from deed.quarantined_events as q where q.evidence = page.digest
            )
        )
    into reached, idle
    from (
        select v.digest, v.first_seen_at, v.kind = 'notification' and v.content is not null as is_whole
        from deed.evidence as v
        where v.first_seen_at > after and v.first_seen_at < latest
        order by v.first_seen_at
        fetch first (most) rows with ties
    ) as page
    -- One by one, as in load_holders.
    left join lateral (
        select e.seq from deed.events as e where e.evidence = page.digest limit 1
    ) as named on true;
    gone := 0;
    if idle is null then
        return;
    end if;
    -- It gives way before PostgreSQL has to choose between it and a commit that waits for it.
    perform set_config('lock_timeout', '100ms', true);
    begin
        with old as (
            delete from deed.evidence as v
            where v.digest = any (idle) and v.content is not null
            returning v.digest
        )
        select array_agg(old.digest), count(*) into idle, gone from old;
        delete from deed.evidence_names as n where n.digest = any (idle);
        -- A commit that finds its evidence filed does not file it again. One that looked before this deletion holds
        -- the lock of its insertion until its events are seen; one that looks now waits, and files it anew.
        filing := array(
            select l.virtualtransaction from pg_locks as l
            where l.relation = 'deed.evidence'::regclass and l.mode = 'RowExclusiveLock' and l.granted
                and l.database = (select d.oid from pg_database as d where d.datname = current_database())
                and l.pid is distinct from pg_backend_pid()
        );
        for look in 1..100 loop
            exit when not exists (
                select from pg_locks as l
                where l.virtualtransaction = any (filing) and l.relation = 'deed.evidence'::regclass
            );
            if look = 100 then
                raise exception 'a commit takes long' using errcode = 'serialization_failure';
            end if;
            perform pg_sleep(0.005);
        end loop;
        if exists (
            select from unnest(idle) as old (digest)
            cross join lateral (
                select from deed.events as e where e.evidence = old.digest limit 1
            ) as named
        ) then
            raise exception 'an event rests on it' using errcode = 'serialization_failure';
        end if;
    exception when serialization_failure or lock_not_available or deadlock_detected then
        reached := null;
        gone := null;
    end;
end $$;

-- Deletes events that were moved aside before an instant, as many at most, and never those of the last 200 days: they show
-- what a stranger wrote.
create or replace function deed.forget_quarantined(before bigint, most bigint) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    gone bigint;
begin
    delete from deed.quarantined_events as q where q.ctid = any (
        array(
            select o.ctid from deed.quarantined_events as o
            where o.quarantined_at < least(
                before, (extract(epoch from clock_timestamp()) * 1000)::bigint - 17280000000
            )
            limit most
        )
    );
    get diagnostics gone = row_count;
    return gone;
end $$;

revoke execute
    on function deed.forget_evidence(bigint, bigint, bigint), deed.forget_quarantined(bigint, bigint)
    from public;
grant execute
    on function deed.forget_evidence(bigint, bigint, bigint), deed.forget_quarantined(bigint, bigint)
    to deed_service;
grant delete on deed.store_budgets, deed.leases to deed_service;
