-- $1 shard, $2 instant, $3 limit, $4 project, or null for all; continue after $5 instant, $6 customer, $7 project,
-- $8 environment
select project, environment, customer, next_boundary_at
from {schema}.customers
where shard = $1::smallint and next_boundary_at <= $2::bigint
    and ($4::text is null or project = $4::text)
    -- Lets the index scan start where the previous page ended.
    and next_boundary_at >= $5::bigint
    and (next_boundary_at, customer, project, environment)
        > ($5::bigint, $6::text, $7::text, $8::text)
order by next_boundary_at, customer, project, environment
limit $3::bigint
