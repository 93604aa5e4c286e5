-- The database's requirements for programs: the log's format, the release that raised it, and the oldest migration
-- whose programs still work.
select number::bigint, program, migration from {schema}.format
