-- Forgetting a person. The log keeps the headers and digests of an erased customer's events; what they said goes.

-- Purchases that never have a holder again, each known by a digest alone. Follows from the log.
create table deed.erased_purchases (
    project text not null,
    environment text not null,
    mark text not null,
    -- Whose erasure says so.
    customer text not null,
    constraint erased_purchases_pkey primary key (mark, project, environment)
);

-- Which purchases evidence tells of that no event rests on, so that an erasure finds it. Goes with the evidence's content.
create table deed.evidence_names (
    project text not null,
    environment text not null,
    store text not null,
    original text not null,
    digest bytea not null check (octet_length(digest) = 32),
    -- Whose erasure found it.
    erased_of text,
    constraint evidence_names_pkey primary key (original, project, environment, store, digest)
);
create index evidence_names_erased on deed.evidence_names (erased_of, project, environment)
    where erased_of is not null;

-- Erased customers of whom something may not be emptied yet, with the version of the erasure.
create table deed.emptying (
    shard smallint not null,
    project text not null,
    environment text not null,
    customer text not null,
    version bigint not null,
    constraint emptying_pkey primary key (shard, customer, project, environment)
);

create index events_erasures on deed.events (customer, project, environment, version)
    where type = 'customer.erased';
create index events_erasures_in_order on deed.events (project, recorded_at, shard, seq)
    where type = 'customer.erased';
create index intake_of_customer on deed.intake (customer, project) where customer is not null;
-- By hash, so that it is never mistaken for the way to what waits.
create index intake_evidence on deed.intake using hash (digest);

-- The only change that the log takes: of an event before an erasure in its stream the payload goes.
create or replace function deed.refuse_change_of_log() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    emptied record;
begin
    -- The owner may move aside what no head covers.
    if tg_op = 'DELETE' and (old.seq < 1 or old.shard not between 0 and 63 or old.seq > (
        select s.head from deed.shards as s where s.shard = old.shard order by s.head desc limit 1
    )) then
        return old;
    end if;
    if tg_op = 'UPDATE' and old.type <> 'customer.erased' and not starts_with(old.customer, '$project/') then
        emptied := old;
        emptied.payload := '';
        if new is not distinct from emptied and exists (
            select from deed.events as e
            where e.customer = old.customer and e.project = old.project
                and e.environment = old.environment and e.type = 'customer.erased'
                and e.version > old.version and e.shard + 0 = old.shard and e.seq between 1 and (
                    select s.head from deed.shards as s where s.shard = old.shard
                    order by s.head desc limit 1
                )
        ) then
            return new;
        end if;
    end if;
    raise exception 'the log only grows: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'append an event that corrects the earlier one';
end $$;

-- Empties the next events of an erased customer after a version, and the evidence behind them; at the end, what else
-- tells of the purchases. Returns the last version that it has reached, and null when all is done. With the owner's rights,
-- because nothing but this may change the log or take evidence down to its digest.
create function deed.empty_erased(
    of_shard smallint, of_project text, of_environment text, of_customer text, after bigint, most bigint
) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    erasure bigint;
    reached bigint;
    places bigint[];
    proofs bytea[];
begin
    if starts_with(of_customer, '$project/') then
        return null;
    end if;
    select max(e.version) into erasure from deed.events as e
    where e.customer = of_customer and e.project = of_project and e.environment = of_environment
        and e.type = 'customer.erased' and e.shard + 0 = of_shard and e.seq between 1 and (
            select s.head from deed.shards as s where s.shard = of_shard order by s.head desc limit 1
        );
    if erasure is null then
        delete from deed.emptying as m
        where m.shard = of_shard and m.customer = of_customer and m.project = of_project
            and m.environment = of_environment;
        return null;
    end if;
    select max(page.version), array_agg(page.seq) filter (where page.is_full),
        array_agg(distinct page.evidence) filter (where page.evidence is not null)
    into reached, places, proofs
    from (
        select e.seq, e.version, e.evidence, e.payload <> '' and e.type <> 'customer.erased' as is_full
        from deed.events as e
        where e.customer = of_customer and e.project = of_project and e.environment = of_environment
            and e.version > after and e.version < erasure and e.shard + 0 = of_shard
        order by e.version
        limit most
    ) as page;
    if reached is null then
        select array_agg(n.digest) into proofs from deed.evidence_names as n
        where n.erased_of = of_customer and n.project = of_project and n.environment = of_environment;
    end if;
    update deed.events as e set payload = '' where e.shard = of_shard and e.seq = any (places);
    -- In one order, so that two who empty the same ones wait and never lock each other.
    perform from deed.evidence as v where v.digest = any (proofs) order by v.digest for update;
    update deed.evidence as v set content = null
    where v.digest = any (proofs) and v.project = of_project and v.environment = of_environment
        and v.content is not null;
    delete from deed.intake as i
    where i.digest = any (proofs) and i.project = of_project and i.state <> 'waiting';
    if reached is null then
        -- What was asked or sent before the commit may have come to its end after it.
        delete from deed.history_questions as h
        where h.customer = of_customer and h.project = of_project and h.environment = of_environment
            and not exists (
                select from deed.holders as o where o.customer = of_customer and o.project = of_project
                    and o.environment = of_environment and o.original = h.original
            );
        delete from deed.webhook_attempts as a where a.project = of_project and a.customer = of_customer;
        update deed.quarantined_events as q set payload = ''
        where q.customer = of_customer and q.project = of_project and q.environment = of_environment
            and q.recorded_at <= (
                select max(e.recorded_at) from deed.events as e
                where e.customer = of_customer and e.project = of_project and e.environment = of_environment
                    and e.version = erasure and e.shard + 0 = of_shard
            );
        delete from deed.evidence_names as n
        where n.erased_of = of_customer and n.project = of_project and n.environment = of_environment;
        delete from deed.emptying as m
        where m.shard = of_shard and m.customer = of_customer and m.project = of_project
            and m.environment = of_environment and m.version <= erasure;
    end if;
    return reached;
end $$;

create or replace view deed.feed as
select e.project, e.environment, e.customer, e.shard || ':' || e.seq as position, e.shard, e.seq as sequence,
    e.version, e.type, deed.instant(e.occurred_at) as occurred_at, deed.instant(e.recorded_at) as recorded_at,
    e.actor, e.cause, nullif(e.payload, '')::json as data
from deed.events as e
join deed.shards as s on s.shard = e.shard and e.seq between 1 and s.head
where not starts_with(e.customer, '$project/') and not starts_with(e.customer, '$unclaimed/');

revoke execute
    on function deed.empty_erased(smallint, text, text, text, bigint, bigint) from public;
grant execute
    on function deed.empty_erased(smallint, text, text, text, bigint, bigint) to deed_service;
grant select, insert, update, delete on deed.erased_purchases, deed.evidence_names, deed.emptying
    to deed_service;
