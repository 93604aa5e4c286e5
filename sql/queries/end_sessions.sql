-- 1 digest of one session, or null; 2 person whose sessions all end, or null
delete from {schema}.sessions where digest = $1::bytea or person = $2::text
