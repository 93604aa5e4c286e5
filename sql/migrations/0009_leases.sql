-- Which instance does what one does for all of them. It does not follow from the log, and nothing is
-- lost with it: a job that is not known to have run is run again.
create table deed.leases (
    name text constraint leases_pkey primary key check (octet_length(name) between 1 and 64),
    -- One more with each taking: an earlier holder writes nothing more under it.
    fence bigint not null check (fence > 0),
    -- By the machine's clock of the instance that holds it.
    held_until bigint not null,
    -- When the last run began that came to its end, by Deed's clock.
    ran_at bigint
);
grant select, insert, update on deed.leases to deed_service;
