-- Forgetting what is old, and on which nothing rests.
--
-- Each statement is a transaction of its own, and no write waits for the indexes. What an earlier try left behind goes first.

-- When the place was last kept. An older program says so only when it keeps a place for the first time.
alter table deed.histories add column if not exists kept_at bigint not null
    default (extract(epoch from now()) * 1000)::bigint;
drop index concurrently if exists deed.histories_kept;
create index concurrently histories_kept on deed.histories (kept_at);

-- Whether an event rests on a piece of evidence. By hash, because it costs each event the least.
drop index concurrently if exists deed.events_of_evidence;
create index concurrently events_of_evidence on deed.events using hash (evidence) where evidence is not null;
drop index concurrently if exists deed.evidence_first_seen;
create index concurrently evidence_first_seen on deed.evidence (first_seen_at);
drop index concurrently if exists deed.evidence_names_digest;
create index concurrently evidence_names_digest on deed.evidence_names (digest);
