-- Writes only for a purchase that has a holder. This statement and an erasure wait for each other.
-- $1 project, $2 store, $3 app, $4 environment, $5 original, $6 since, $7 revision, $8 end of the pause
insert into {schema}.histories
    (project, store, app, environment, original, since, revision, rests_until, kept_at)
select h.project, h.store, h.app, h.environment, h.original, $6::bigint, $7::text, $8::bigint,
    (extract(epoch from clock_timestamp()) * 1000)::bigint
from {schema}.holders as h
where h.original = $5::text and h.project = $1::text and h.store = $2::text and h.app = $3::text
    and h.environment = $4::text
for key share of h
on conflict (original, project, store, app, environment) do update
set (since, revision, rests_until, kept_at)
    = (excluded.since, excluded.revision, excluded.rests_until, excluded.kept_at)
