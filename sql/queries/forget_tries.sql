-- For a name, also deletes the attempts from all addresses.
-- $1 digest of an address, of a name, or of a name with an address
delete from {schema}.sign_in_tries where who = $1::bytea or name = $1::bytea
