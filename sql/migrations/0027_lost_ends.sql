-- How far an instance had seen the log where it found that this database ends earlier, or has another event there. While
-- the database lacks one of them, nobody works with it. None of it follows from the log.
create table deed.lost_ends (
    shard smallint not null check (shard between 0 and 63),
    -- Sums of all shards are numbers, too.
    seq bigint not null check (seq between 1 and 9007199254740991),
    chain bytea not null check (octet_length(chain) = 32),
    -- How many losses the log had accepted by then. What is accepted later was accepted for this one.
    acceptances bigint not null check (acceptances >= 0),
    constraint lost_ends_pkey primary key (shard)
);

grant select, insert, update, delete on deed.lost_ends to deed_service;
