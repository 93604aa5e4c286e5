-- $1 shards, $2 seqs, $3 projects, $4 environments, $5 customers, $6 versions, $7 types, $8 payloads,
-- $9 digests, $10 chains, $11 occurred_ats, $12 recorded_ats, $13 actors, $14 causes,
-- $15 cause indexes, $16 cause digests, $17 catalog versions, $18 digests of evidence,
-- $19 formats of the payloads
insert into {schema}.events (
    shard, seq, project, environment, customer, version, type, payload, digest, chain,
    occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version,
    evidence, format
)
-- The arrays are unnested row by row. A single call with many arrays would first store each array in a table.
select unnest($1::smallint[]), unnest($2::bigint[]), unnest($3::text[]), unnest($4::text[]),
    unnest($5::text[]), unnest($6::bigint[]), unnest($7::text[]), unnest($8::text[]),
    unnest($9::bytea[]), unnest($10::bytea[]), unnest($11::bigint[]), unnest($12::bigint[]),
    unnest($13::text[]), unnest($14::text[]), unnest($15::smallint[]), unnest($16::bytea[]),
    unnest($17::bigint[]), unnest($18::bytea[]), unnest($19::smallint[])
