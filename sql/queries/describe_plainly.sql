-- Makes all servers write an expression in the same way, whatever their settings.
select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
    set_config('intervalstyle', 'postgres', true), set_config('quote_all_identifiers', 'off', true)
