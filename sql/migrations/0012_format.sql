-- Which types of events, members and rules the log may have. A program knows every number up to its own, and writes
-- nothing under a higher one. One row: only the owner raises it, as a step of its own, and it never goes back.
create table deed.format (
    only_one boolean primary key default true check (only_one),
    number smallint not null check (number > 0),
    -- The oldest migration whose programs still work under this schema. A migration that leaves older programs behind
    -- sets it to its own number.
    migration bigint not null,
    -- The release that raised the number, and when by the machine's clock; null before.
    program text,
    raised_at bigint
);
-- Answers of Google Play have the number 2.
insert into deed.format (number, migration)
select case when exists (select from deed.apps as a where a.store = 'google') then 2 else 1 end, 12;

create trigger format_is_never_lowered before update on deed.format
    for each row when (new.number < old.number or new.migration < old.migration)
    execute function deed.refuse_change();
create trigger format_stays before delete on deed.format
    for each row execute function deed.refuse_change();
create trigger format_is_not_emptied before truncate on deed.format
    for each statement execute function deed.refuse_change();

grant select on deed.format to deed_service;
