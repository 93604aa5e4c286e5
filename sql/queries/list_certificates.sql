-- $1 digests
select digest, der from {schema}.certificates where digest = any($1::bytea[])
