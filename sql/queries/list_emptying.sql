-- 1 limit
-- In random order, so that a few failing customers do not block all others.
select project, environment, customer from {schema}.emptying order by random() limit $1::bigint
