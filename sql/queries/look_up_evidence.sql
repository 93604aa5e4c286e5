-- 1 digests
select e.digest, e.kind, e.verdict from unnest($1::bytea[]) as wanted (digest)
join deed.evidence as e using (digest)
