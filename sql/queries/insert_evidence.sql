-- $1 digests, $2 projects, $3 environments, $4 kinds, $5 apps, $6 signed_ats, $7 first_seen_ats, $8 verdicts,
-- $9 contents, $10 concatenated digests of each row's certificates, $11 seals
insert into {schema}.evidence (
    digest, project, environment, kind, app, signed_at, first_seen_at, verdict, content,
    certificates, seal
)
-- The arrays are unnested row by row, as in insert_events.
select * from (
    select unnest($1::bytea[]) as digest, unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
        unnest($5::text[]), unnest($6::bigint[]), unnest($7::bigint[]), unnest($8::text[]),
        unnest($9::bytea[]), unnest($10::bytea[]), unnest($11::bytea[])
) as new
-- Rows are always inserted in the same order, so that two sessions with the same rows wait for each other instead of
-- deadlocking.
order by new.digest
on conflict (digest) do nothing
