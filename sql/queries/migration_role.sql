do $$
begin
    if not exists (select from pg_roles where rolname = 'deed_service') then
        begin
            create role deed_service nologin;
        exception when duplicate_object or unique_violation then
            null;
        end;
    end if;
    begin
        set local role deed_service;
        reset role;
    exception when insufficient_privilege then
        -- The login that created the role may use it only after this grant.
        grant deed_service to current_user;
    end;
end $$
