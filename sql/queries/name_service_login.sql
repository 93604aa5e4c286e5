-- $1 the service's login; empty if the owner serves
select set_config('deed_migration.service_login', $1, true)
