-- $1 project, $2 environment; continue after $3 store, $4 original; $5 limit
select u.store, u.original, u.app, u.since
from {schema}.unclaimed as u
where u.project = $1::text and u.environment = $2::text
    and (u.store, u.original) > ($3::text, $4::text)
order by u.store, u.original
limit $5::bigint
