do $$
begin
    if not exists (select from pg_roles where rolname = 'deed_service') then
        create role deed_service nologin;
    end if;
    if not pg_has_role(current_user, 'deed_service', 'member') then
        grant deed_service to current_user;
    end if;
exception when duplicate_object or unique_violation then
    null;
end $$
