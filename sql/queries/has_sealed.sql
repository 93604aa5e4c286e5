-- Whether anything is sealed with the installation's key. An earlier release's schema lacks the table of second
-- factors. A table that takes up space has or had rows, and each row needed the key.
select exists (select from {schema}.store_credentials where has_key or has_shared_secret)
    or exists (select from {schema}.webhook_secrets)
    or coalesce(pg_relation_size(to_regclass('{schema}.second_factors')) > 0, false)
