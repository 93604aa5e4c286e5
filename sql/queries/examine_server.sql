-- The facts about the server, the login and the database that a setup needs, whether or not the schema exists.
-- $1 the schema's name
select
    current_setting('server_version_num')::bigint,
    current_setting('fsync')::boolean,
    current_setting('full_page_writes')::boolean,
    current_setting('autovacuum')::boolean,
    current_setting('server_encoding'),
    current_setting('default_transaction_read_only')::boolean,
    pg_is_in_recovery(),
    current_setting('max_connections')::bigint,
    current_setting('data_checksums')::boolean,
    session_user::text,
    current_database()::text,
    (select rolsuper from pg_roles where rolname = session_user),
    exists (select from pg_roles where rolname = 'deed_service'),
    coalesce((
        select pg_has_role(session_user, role.oid, 'member') from pg_roles as role where role.rolname = 'deed_service'
    ), false),
    coalesce((
        select pg_has_role(session_user, space.nspowner, 'member') from pg_namespace as space
        where space.nspname = $1::text
    ), false),
    exists (select from pg_namespace where nspname = $1::text),
    (extract(epoch from clock_timestamp()) * 1000)::bigint,
    coalesce((select max(age(datfrozenxid))::bigint from pg_database where datallowconn), 0),
    (select rolconnlimit::bigint from pg_roles where rolname = session_user),
    (select datconnlimit::bigint from pg_database where datname = current_database())
