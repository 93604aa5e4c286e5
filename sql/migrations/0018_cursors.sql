-- Who must miss nothing of the log has a place in each shard, under a name.

-- None of it follows from the log. Without its row a name begins anew: what it does must not be done twice
-- by what counts.
create table deed.cursors (
    name text not null check (octet_length(name) between 1 and 64),
    shard smallint not null check (shard between 0 and 63),
    -- All up to here is done.
    seq bigint not null check (seq >= 0),
    constraint cursors_pkey primary key (name, shard)
);

grant select, insert, update, delete on deed.cursors to deed_service;
