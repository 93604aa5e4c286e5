-- $1 project, $2 webhook, $3 sealed secrets, $4 name of the key, $5 previous revision, or 0, $6 version of the
-- project's stream at the change, $7 start of a new webhook
with opened as (
    insert into {schema}.webhook_places (project, webhook, cursor)
    select $1, $2, $7::text where $7::text is not null
    on conflict (project, webhook) do nothing
)
insert into {schema}.webhook_secrets as s (project, webhook, sealed, key_name, revision, version)
select $1, $2, $3, $4, $5::bigint + 1, $6::bigint
where $5::bigint = 0 or exists (
    select from {schema}.webhook_secrets where project = $1 and webhook = $2
)
on conflict (project, webhook) do update set
    sealed = excluded.sealed, key_name = excluded.key_name, revision = excluded.revision,
    version = excluded.version
where s.revision = $5::bigint
returning revision
