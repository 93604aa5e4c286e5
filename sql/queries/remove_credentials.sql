-- 1 project, 2 store, 3 app
delete from deed.store_credentials where project = $1 and store = $2 and app = $3
