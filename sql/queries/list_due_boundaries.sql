-- 1 shard, 2 an instant, 3 how many
select project, environment, customer
from deed.customers
where shard = $1::smallint and next_boundary_at <= $2::bigint
order by next_boundary_at
limit $3::bigint
