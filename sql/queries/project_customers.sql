-- 1 shards, 2 projects, 3 environments, 4 customers, 5 versions, 6 next changes,
-- 7 catalog versions, 8 runs, 9 next boundaries, 10 app transactions, 11 answer by, 12 inquiries
insert into deed.customers as known (
    shard, project, environment, customer, version, next_change_at, catalog_version, runs,
    next_boundary_at, app_transactions, answer_by, inquiry_at
)
-- Row by row, as in insert_events.
select unnest($1::smallint[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::bigint[]), unnest($6::bigint[]), unnest($7::bigint[]), unnest($8::text[])::jsonb,
    unnest($9::bigint[]), unnest($10::text[])::jsonb, unnest($11::bigint[]),
    unnest($12::bigint[])
on conflict (shard, project, environment, customer) do update
set version = excluded.version, next_change_at = excluded.next_change_at,
    -- A commit writes what it changed. What else is by an older catalog is left to the job, which must
    -- still find the customer.
    catalog_version = least(known.catalog_version, excluded.catalog_version), runs = excluded.runs,
    next_boundary_at = excluded.next_boundary_at,
    app_transactions = excluded.app_transactions, answer_by = excluded.answer_by,
    inquiry_at = excluded.inquiry_at
