-- $1 instance
delete from {schema}.instances where instance = $1::text
