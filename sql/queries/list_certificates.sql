-- 1 digests
select digest, der from deed.certificates where digest = any($1::bytea[])
