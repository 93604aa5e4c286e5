-- The size in bytes of Deed's tables and indexes, and PostgreSQL's folder if this login may see it.
select (
    select coalesce(sum(pg_total_relation_size(relation.oid)), 0)::bigint
    from pg_class as relation join pg_namespace as space on space.oid = relation.relnamespace
    where space.nspname = '{schema}' and relation.relkind in ('r', 'm')
), case when pg_has_role(current_user, 'pg_read_all_settings', 'member') then current_setting('data_directory') end
