-- 1 the digest of an address, a name, or a name from an address; a name's attempts from all addresses are deleted
delete from {schema}.sign_in_tries where who = $1::bytea or name = $1::bytea
