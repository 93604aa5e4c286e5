-- Whether a restore can start: whether the schema exists, and which objects this login may create.
-- $1 the schema's name
select
    exists (select from pg_namespace where nspname = $1::text),
    has_database_privilege(session_user, current_database(), 'create'),
    (select rolcreaterole or rolsuper from pg_roles where rolname = session_user),
    exists (select from pg_roles where rolname = 'deed_service'),
    -- Superusers count as members of every role.
    coalesce((
        select pg_has_role(session_user, r.oid, 'member') from pg_roles as r where r.rolname = 'deed_service'
    ), false),
    current_setting('server_version_num')::bigint,
    current_setting('server_encoding'),
    session_user::text
