-- A name by which other sessions can see the database as this transaction does.
select pg_export_snapshot()
