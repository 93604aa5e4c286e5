-- 1 an address, a name, or a name from an address as a digest; a name's tries go from all addresses
delete from {schema}.sign_in_tries where who = $1::bytea or name = $1::bytea
