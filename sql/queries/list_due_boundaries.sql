-- 1 shard, 2 an instant, 3 how many, 4 a project, null: all, 5 instant, 6 customer, 7 project and
-- 8 environment after which
select project, environment, customer, next_boundary_at
from {schema}.customers
where shard = $1::smallint and next_boundary_at <= $2::bigint
    and ($4::text is null or project = $4::text)
    -- By the first of them the index is entered where the page before ended.
    and next_boundary_at >= $5::bigint
    and (next_boundary_at, customer, project, environment)
        > ($5::bigint, $6::text, $7::text, $8::text)
order by next_boundary_at, customer, project, environment
limit $3::bigint
