-- $1 digests, $2 certificates in DER
insert into {schema}.certificates (digest, der)
select * from unnest($1::bytea[], $2::bytea[]) as new (digest, der)
-- Rows are always inserted in the same order, so that two sessions with the same rows wait for each other instead of
-- deadlocking.
order by new.digest
on conflict (digest) do nothing
