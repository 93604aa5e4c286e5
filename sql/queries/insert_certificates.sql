-- 1 digests, 2 certificates in DER
insert into {schema}.certificates (digest, der)
select * from unnest($1::bytea[], $2::bytea[]) as new (digest, der)
-- Always in the same order, so that two sessions that insert the same rows wait instead of
-- deadlocking.
order by new.digest
on conflict (digest) do nothing
