-- $1 project, $2 store, $3 app, $4 version before which the deleted credentials were written
delete from {schema}.store_credentials
where project = $1 and store = $2 and app = $3 and version < $4::bigint
