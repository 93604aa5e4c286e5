-- $1 project
delete from {schema}.reconciled where project = $1::text
