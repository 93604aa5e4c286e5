-- An earlier release let the service read the statements of every database; deed.standbys() tells what it needs.
do $$
begin
    if exists (
        select from pg_auth_members as m
        join pg_roles as r on r.oid = m.roleid join pg_roles as s on s.oid = m.member
        where r.rolname = 'pg_read_all_stats' and s.rolname = 'deed_service'
    ) then
        revoke pg_read_all_stats from deed_service;
    end if;
exception when insufficient_privilege then
    -- The privilege is an administrator's. That it is there is told with what else differs.
    null;
end $$
