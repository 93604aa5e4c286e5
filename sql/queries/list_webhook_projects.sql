-- Projects that have endpoints.
select distinct project from {schema}.webhook_secrets
