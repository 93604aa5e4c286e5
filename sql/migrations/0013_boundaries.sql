-- What the clock changes is published as it happens.

-- The next instant at which something about the customer has to be published, by what is recorded. Who is
-- due is found by it, shard by shard, so that looking costs what is due and not what is kept.
alter table deed.customers add column next_boundary_at bigint;
create index customers_next_boundary on deed.customers (shard, next_boundary_at)
    where next_boundary_at is not null;

-- From when on boundaries of the project's customers are published; null before the first service that
-- does so ran.
alter table deed.projects add column publishes_since bigint;
create index projects_unpublished on deed.projects (project) where publishes_since is null;

-- The rows of customers are written anew from the log.
update deed.projects set projected_version = -1;
update deed.customers set catalog_version = -1;
