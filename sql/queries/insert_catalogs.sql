-- $1 digests, $2 contents
insert into {schema}.catalogs (digest, content)
-- The arrays are unnested row by row, as in insert_events.
select * from (select unnest($1::bytea[]) as digest, unnest($2::bytea[])) as new
-- Rows are always inserted in the same order, as in insert_evidence.
order by new.digest
on conflict (digest) do nothing
