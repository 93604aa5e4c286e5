-- Whether an app has credentials for a store of the real world.
select exists (
    select from deed.store_credentials
    where address is null and (has_key or has_shared_secret)
)
