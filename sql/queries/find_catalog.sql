-- $1 digest
select content from {schema}.catalogs where digest = $1::bytea
