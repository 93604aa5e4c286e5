select {texts}
from unnest({arrays}) as wanted ({by})
-- Looks up each row individually, as in load_holders.
cross join lateral (
    select * from {schema}.{table} as t where ({match}) = ({wanted}) offset 0
) as t
