-- 1 digests, 2 projects, 3 environments, 4 kinds, 5 apps, 6 signed_ats, 7 first_seen_ats, 8 verdicts,
-- 9 contents, 10 digests of certificates (of each row, one behind the other)
insert into deed.evidence (
    digest, project, environment, kind, app, signed_at, first_seen_at, verdict, content,
    certificates
)
select * from unnest(
    $1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
    $8::text[], $9::bytea[], $10::bytea[]
) as new (digest)
-- Always in the same order, so that two who insert the same ones wait and never lock each other.
order by new.digest
on conflict (digest) do nothing
