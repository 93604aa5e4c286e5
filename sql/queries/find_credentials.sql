-- $1 project, $2 store and $3 app, or null for all
select project, store, app, sealed, key_name, has_key, has_shared_secret, address, changed_at,
    changed_by, revision, version
from {schema}.store_credentials
where ($1::text is null or project = $1) and ($2::text is null or store = $2)
    and ($3::text is null or app = $3)
order by project, store, app
