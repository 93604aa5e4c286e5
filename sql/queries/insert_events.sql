-- 1 shards, 2 seqs, 3 projects, 4 environments, 5 customers, 6 versions, 7 types, 8 payloads,
-- 9 digests, 10 chains, 11 occurred_ats, 12 recorded_ats, 13 actors, 14 causes,
-- 15 cause indexes, 16 cause digests, 17 catalog versions
insert into deed.events (
    shard, seq, project, environment, customer, version, type, payload, digest, chain,
    occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version
)
select * from unnest(
    $1::smallint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
    $8::text[], $9::bytea[], $10::bytea[], $11::bigint[], $12::bigint[], $13::text[],
    $14::text[], $15::smallint[], $16::bytea[], $17::bigint[]
)
