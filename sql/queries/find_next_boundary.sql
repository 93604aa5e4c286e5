-- The first instant of each shard at which something has to be published.
select s.shard, c.next_boundary_at
from {schema}.shards as s
cross join lateral (
    select c.next_boundary_at from {schema}.customers as c
    where c.shard = s.shard and c.next_boundary_at is not null
    order by c.next_boundary_at limit 1
) as c
