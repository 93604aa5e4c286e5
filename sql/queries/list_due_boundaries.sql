-- 1 shard, 2 an instant, 3 how many, 4 a project, null: all
select project, environment, customer
from deed.customers
where shard = $1::smallint and next_boundary_at <= $2::bigint
    and ($4::text is null or project = $4::text)
order by next_boundary_at
limit $3::bigint
