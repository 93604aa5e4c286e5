-- Whether anything is sealed with the installation's key.
select exists (select from {schema}.store_credentials where has_key or has_shared_secret)
    or exists (select from {schema}.webhook_secrets)
