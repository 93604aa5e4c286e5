-- Runs before forget_webhook, in the same transaction. It waits for a write of the webhook's progress, and later writes
-- find no place.
-- $1 project, $2 webhook
delete from {schema}.webhook_places where project = $1 and webhook = $2
