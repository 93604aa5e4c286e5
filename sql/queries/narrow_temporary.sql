-- A login that may make temporary objects may put them in the way of others' names. The service tries with one
-- whether the disk has room.
do $$
begin
    execute format('revoke temporary on database %I from public', current_database());
    execute format('grant temporary on database %I to deed_service', current_database());
exception when insufficient_privilege then
    -- The database is another's. That everybody may make them is told with what else differs.
    null;
end $$
