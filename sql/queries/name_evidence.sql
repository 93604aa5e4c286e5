-- $1 projects, $2 environments, $3 stores, $4 originals, $5 digests
insert into {schema}.evidence_names (project, environment, store, original, digest)
select distinct * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[])
    as new (project, environment, store, original, digest)
-- Always inserts in the same order, as in insert_evidence.
order by original, digest
on conflict on constraint evidence_names_pkey do nothing
