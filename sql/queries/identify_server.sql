-- Which database of which cluster it is, and how often that was promoted: the timeline is the head of a segment's name.
select (select system_identifier from pg_control_system())::text,
    ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
    current_database()::text
