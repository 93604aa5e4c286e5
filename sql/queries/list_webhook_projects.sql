select distinct project from {schema}.webhook_secrets
