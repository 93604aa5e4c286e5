-- The role that needs the right to see which standby confirms commits. This role owns the function that reports the
-- standby. Returns a row only if commits wait for a standby.
select pg_get_userbyid(p.proowner) from pg_proc as p
where p.oid = '{schema}.standbys()'::regprocedure and current_setting('synchronous_standby_names') <> ''
    and not pg_has_role(p.proowner, 'pg_read_all_stats', 'usage')
