-- 1 shards, 2 projects, 3 environments, 4 customers, 5 versions, 6 catalog versions,
-- 7 runs, 8 next boundaries, 9 app transactions, 10 answer by, 11 inquiries
insert into {schema}.customers as known (
    shard, project, environment, customer, version, catalog_version, runs,
    next_boundary_at, app_transactions, answer_by, inquiry_at
)
-- Row by row, as in insert_events.
select unnest($1::smallint[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::bigint[]), unnest($6::bigint[]), unnest($7::text[])::jsonb, unnest($8::bigint[]),
    unnest($9::text[])::jsonb, unnest($10::bigint[]), unnest($11::bigint[])
on conflict (shard, project, environment, customer) do update
set version = excluded.version,
    -- A commit writes what it changed. What else is by an older catalog is left to the job, which must
    -- still find the customer.
    catalog_version = least(known.catalog_version, excluded.catalog_version), runs = excluded.runs,
    next_boundary_at = excluded.next_boundary_at,
    app_transactions = excluded.app_transactions, answer_by = excluded.answer_by,
    inquiry_at = excluded.inquiry_at
