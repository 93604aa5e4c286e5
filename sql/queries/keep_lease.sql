-- $1 name, $2 fence, $3 new end
update {schema}.leases set held_until = $3, session = pg_backend_pid()
-- A lease that was given up cannot be extended.
where name = $1 and fence = $2 and held_until > 0
returning name
