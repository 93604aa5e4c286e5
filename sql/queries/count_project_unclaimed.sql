-- Counts waiting purchases. Also counts purchases with a token that now belongs to a customer, although they are still
-- waiting or another customer holds them.
-- $1 project
select count(*), count(*) filter (
    where exists (
        select from {schema}.unclaimed_tokens as w
        join {schema}.tokens as t
            on t.token = w.token and t.project = w.project and t.environment = w.environment
        where w.project = u.project and w.environment = u.environment and w.store = u.store
            and w.original = u.original
    )
) + (
    select count(*) from {schema}.carried_tokens as c
    join {schema}.tokens as t
        on t.token = c.token and t.project = c.project and t.environment = c.environment
    where c.project = $1::text
)
from {schema}.unclaimed as u where u.project = $1::text
