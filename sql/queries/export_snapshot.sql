-- Returns a name by which other sessions can share this transaction's view of the database.
select pg_export_snapshot()
