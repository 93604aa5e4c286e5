-- Which form of its type's payload an event has; the chain covers it (docs/ledger.md).
alter table deed.events add column format smallint not null default 1
    constraint events_format_check check (format > 0);
alter table deed.events alter column format drop default;
alter table deed.quarantined_events add column format smallint not null default 1;
alter table deed.quarantined_events alter column format drop default;
