-- What a long stream did before is found by its cause, however old. The first events of a stream need no entry: they
-- are read. The condition stands word for word in load_causes.sql.
--
-- Each statement is a transaction of its own, and no write waits for them. What an earlier try left behind goes first.
drop index concurrently if exists deed.events_of_causes;
create index concurrently events_of_causes on deed.events (hashtextextended(customer || ' ' || cause, 0))
where version > 64;
