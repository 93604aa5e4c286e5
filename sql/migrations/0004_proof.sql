-- What an audit needs to prove more, and heads that stay cheap to find while an old snapshot is held.

-- Each commit writes its shards' rows anew. While a session holds an old snapshot (a dump, an analyst),
-- none of the versions before can be removed, and a key of the shard alone would lead to all of them.
-- With the head behind it, the newest version is the last entry of its shard: it is found at once.
alter table deed.shards drop constraint shards_pkey;
alter table deed.shards add constraint shards_pkey primary key (shard, head);
alter table deed.shards set (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);
-- Nor may a row become another shard's.
revoke update on deed.shards from deed_service;
grant update (head, chain, recorded_at) on deed.shards to deed_service;
-- One row for each shard, which the key does not say any more.
create trigger shards_are_complete before insert on deed.shards
    for each row execute function deed.refuse_change();

-- The digest of the evidence on which the event rests. The chain covers it (docs/ledger.md).
alter table deed.events add column evidence bytea;
-- No head covers what lies before the first position. Not valid: what is there already is the audit's.
alter table deed.events add constraint events_seq_check check (seq > 0) not valid;
-- SHA-256 of the row's other columns. Null in rows of before.
alter table deed.evidence add column seal bytea;
-- Only what was filed whole may be taken down to its digest later, by the owner.
create trigger evidence_is_whole before insert on deed.evidence
    for each row when (new.content is null)
    execute function deed.refuse_change();

-- What lay beyond the head of its shard and was moved aside: it never was a part of the log.
create table deed.quarantined_events (
    like deed.events,
    head bigint not null,
    quarantined_at bigint not null,
    quarantined_by text not null
);

create function deed.refuse_change_of_log() returns trigger language plpgsql as $$
begin
    -- The owner may move aside what no head covers.
    if tg_op = 'DELETE' and (old.seq < 1 or old.shard not between 0 and 63 or old.seq > (
        select s.head from deed.shards as s where s.shard = old.shard order by s.head desc limit 1
    )) then
        return old;
    end if;
    raise exception 'the log only grows: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'append an event that corrects the earlier one';
end $$;

drop trigger events_only_grow on deed.events;
create trigger events_only_grow before update or delete on deed.events
    for each row execute function deed.refuse_change_of_log();
alter table deed.events enable always trigger events_only_grow;
