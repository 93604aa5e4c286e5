-- Projects that have webhooks.
select distinct project from {schema}.webhook_secrets
