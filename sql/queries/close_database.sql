-- Revokes CONNECT from PUBLIC and from deed_service, which all databases of the cluster share, and
-- grants it to the one login that serves this database. If PUBLIC had the right before, logins that own
-- objects or have rights in this database keep it.
do $$
declare
    service constant text := nullif(current_setting('deed_migration.service_login'), '');
    login text;
begin
    if service is not null then
        if not exists (select from pg_roles where rolname = service and rolcanlogin) then
            raise exception 'there is no login %', service using errcode = 'DD009';
        end if;
        if not pg_has_role(service, 'deed_service', 'member') then
            execute format('grant deed_service to %I', service);
        end if;
        execute format('grant connect on database %I to %I', current_database(), service);
    end if;
    for login in
        select distinct r.rolname from pg_shdepend as d join pg_roles as r on r.oid = d.refobjid
        where d.refclassid = 'pg_authid'::regclass and d.deptype in ('a', 'o')
            and d.dbid = (select oid from pg_database where datname = current_database())
            and has_database_privilege('public', current_database(), 'connect')
            and r.rolname not in ('deed_service', current_user)
    loop
        execute format('grant connect on database %I to %I', current_database(), login);
    end loop;
    execute format('revoke connect on database %I from public, deed_service', current_database());
    for login in
        select r.rolname
        from pg_database as d cross join lateral aclexplode(d.datacl) as a
        join pg_roles as r on r.oid = a.grantee
        where d.datname = current_database() and a.privilege_type = 'CONNECT' and service is not null
            and r.rolname not in (service, current_user) and r.oid <> d.datdba and not r.rolsuper
            and pg_has_role(r.oid, 'deed_service', 'member')
    loop
        execute format('revoke connect on database %I from %I', current_database(), login);
    end loop;
end $$
