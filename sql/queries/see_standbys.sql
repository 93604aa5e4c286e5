-- Who has to be given the right to see which standby confirms commits: the owner of what tells it, where
-- commits wait for one.
select pg_get_userbyid(p.proowner) from pg_proc as p
where p.oid = '{schema}.standbys()'::regprocedure and current_setting('synchronous_standby_names') <> ''
    and not pg_has_role(p.proowner, 'pg_read_all_stats', 'usage')
