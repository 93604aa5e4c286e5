-- $1 shards, $2 projects, $3 environments, $4 customers
delete from {schema}.kept_states as k
using unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as gone (shard, project, environment, customer)
where k.shard = gone.shard and k.customer = gone.customer and k.project = gone.project
    and k.environment = gone.environment
