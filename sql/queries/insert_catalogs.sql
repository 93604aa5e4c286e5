-- 1 digests, 2 contents
insert into {schema}.catalogs (digest, content)
-- Row by row, as in insert_events.
select * from (select unnest($1::bytea[]) as digest, unnest($2::bytea[])) as new
-- As in insert_evidence.
order by new.digest
on conflict (digest) do nothing
