-- Lets the service see what standbys are, so that it can tell when none confirms what it writes.
do $$
begin
    if not pg_has_role('deed_service', 'pg_read_all_stats', 'member') then
        grant pg_read_all_stats to deed_service;
    end if;
end $$
