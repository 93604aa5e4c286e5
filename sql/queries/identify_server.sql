-- Identifies the database, its cluster, and its timeline, which counts promotions. A WAL segment's name starts with the
-- timeline.
select (select system_identifier from pg_control_system())::text,
    ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
    current_database()::text
