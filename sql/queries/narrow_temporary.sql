-- A login that may create temporary objects may hide other objects by their names. The service
-- creates one to check whether the disk has room.
do $$
begin
    execute format('revoke temporary on database %I from public', current_database());
    execute format('grant temporary on database %I to deed_service', current_database());
exception when insufficient_privilege then
    -- The database belongs to someone else. That everyone may create them is reported with the
    -- other differences.
    null;
end $$
