-- Of the keepers among the customers. Since when it waits is for people.
-- 1 shards, 2 projects, 3 environments, 4 customers
select u.project, u.environment, u.store, u.original, u.app
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
-- $unclaimed/apple:2000000123
join {schema}.unclaimed as u on u.project = wanted.project and u.environment = wanted.environment
    and u.store = split_part(substr(wanted.customer, 12), ':', 1)
    and u.original = substr(wanted.customer, 13 + length(u.store))
where starts_with(wanted.customer, '$unclaimed/')
