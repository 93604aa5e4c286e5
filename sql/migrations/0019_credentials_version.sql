-- Which write of credentials came last is told by the log, not by clocks: by the version that the project's
-- own stream had.
alter table deed.store_credentials
    add column version bigint not null default 0 check (version >= 0);

-- What is kept now was written before all that comes.
update deed.store_credentials as c set version = coalesce((
    select max(e.version) from deed.events as e
    where e.project = c.project and e.customer = '$project/'
), 0);
