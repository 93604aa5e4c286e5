-- Each column as text, as ProjectedTable names them.
-- 1 shards, 2 projects, 3 environments, 4 customers
select shard::text, project, environment, customer, t.version::text,
    t.catalog_version::text, t.runs::text, t.next_boundary_at::text,
    t.app_transactions::text, t.answer_by::text, t.inquiry_at::text
from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
    as wanted (shard, project, environment, customer)
join {schema}.customers as t using (shard, project, environment, customer)
