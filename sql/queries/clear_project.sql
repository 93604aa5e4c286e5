-- 1 project, 2 and 3 stores and ids of the apps, 4 digests of the keys that the log gives it, 5 whether it has events
with project as (
    delete from {schema}.projects where project = $1::text and not $5::boolean
), apps as (
    delete from {schema}.apps
    where project = $1::text
        or (store, app) in (select * from unnest($2::text[], $3::text[]))
)
delete from {schema}.keys where project = $1::text or digest = any ($4::bytea[])
