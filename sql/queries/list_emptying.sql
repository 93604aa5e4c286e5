-- The order is random, so that a few failing customers do not block all others.
-- $1 limit
select project, environment, customer, version from {schema}.emptying order by random() limit $1::bigint
