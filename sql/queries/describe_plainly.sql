-- Makes all servers format expressions in the same way, regardless of their settings.
select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
    set_config('intervalstyle', 'postgres', true), set_config('quote_all_identifiers', 'off', true)
