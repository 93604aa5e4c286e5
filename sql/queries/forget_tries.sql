-- 1 the digest of an address, of a name, or of a name with an address. For a name, attempts from all addresses go too.
delete from {schema}.sign_in_tries where who = $1::bytea or name = $1::bytea
