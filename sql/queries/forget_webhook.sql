-- Deletes the rest, in a statement of its own: only such a statement sees the rows of a write for which
-- forget_webhook_place waited.
-- $1 project, $2 webhook
with secrets as (delete from {schema}.webhook_secrets where project = $1 and webhook = $2),
waiting as (delete from {schema}.webhook_waiting where project = $1 and webhook = $2),
attempts as (delete from {schema}.webhook_attempts where project = $1 and webhook = $2)
delete from {schema}.webhook_replays where project = $1 and webhook = $2
