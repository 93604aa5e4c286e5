-- $1 project, $2 store, $3 app, $4 sealed credentials, $5 name of the key, $6 whether there is a key, $7 whether there
-- is a shared secret, $8 address, $9 changed at, $10 changed by, $11 previous revision, or 0, $12 version of the
-- project's stream at the change
insert into {schema}.store_credentials as c (
    project, store, app, sealed, key_name, has_key, has_shared_secret, address, changed_at,
    changed_by, revision, version)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::bigint + 1, $12::bigint
where (
        $11::bigint = 0 or exists (
            select from {schema}.store_credentials where project = $1 and store = $2 and app = $3
        )
    )
    -- Credentials for a real store are refused if the database has a test clock.
    and (
        $8::text is not null or not ($6::boolean or $7::boolean)
        or not exists (select from {schema}.test_clock)
    )
on conflict (project, store, app) do update set
    sealed = excluded.sealed, key_name = excluded.key_name, has_key = excluded.has_key,
    has_shared_secret = excluded.has_shared_secret, address = excluded.address,
    changed_at = excluded.changed_at, changed_by = excluded.changed_by,
    revision = excluded.revision, version = excluded.version
where c.revision = $11::bigint
returning revision
