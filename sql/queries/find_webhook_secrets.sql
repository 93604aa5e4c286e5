-- $1 project, $2 webhook, or null for all
select project, webhook, sealed, key_name, revision, version
from {schema}.webhook_secrets
where ($1::text is null or project = $1) and ($2::text is null or webhook = $2)
order by project, webhook
