-- A login that may create temporary objects can use their names to hide other objects. The service
-- creates one to check whether the disk has room.
do $$
begin
    execute format('revoke temporary on database %I from public', current_database());
    execute format('grant temporary on database %I to deed_service', current_database());
exception when insufficient_privilege then
    -- The database belongs to someone else. If everyone may create them, that is reported along
    -- with the other differences.
    null;
end $$
