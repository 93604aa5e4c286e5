-- What was done for a ticket is found by it, however old. The conditions stand word for word in find_ticket.sql.
--
-- Each statement is a transaction of its own, and no write waits for them. What an earlier try left behind goes first.
drop index concurrently if exists deed.events_of_tickets;
create index concurrently events_of_tickets on deed.events (
    project, environment, hashtextextended(substring(payload from '"ticket":("(?:[^"\\]|\\.)*")'), 0), recorded_at
) where strpos(payload, '"ticket":"') > 0;
