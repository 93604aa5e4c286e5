-- The name under which other sessions see the database as this transaction does.
select pg_export_snapshot()
