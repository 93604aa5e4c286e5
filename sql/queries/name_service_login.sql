-- 1 the login of the service; empty where the owner serves
select set_config('deed_migration.service_login', $1, true)
