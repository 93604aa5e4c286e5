-- A login that may create temporary objects can use their names to hide other objects. The service creates a temporary
-- object to check whether the disk has space.
do $$
begin
    execute format('revoke temporary on database %I from public', current_database());
    execute format('grant temporary on database %I to deed_service', current_database());
exception when insufficient_privilege then
    -- The database belongs to another login. If PUBLIC may create temporary objects, a report lists
    -- this with the other differences.
    null;
end $$
