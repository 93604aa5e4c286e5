-- $1 project, $2 environment, $3 app transaction as JSON, $4 limit
with found as materialized (
    -- The search uses the account alone. An account has one or two customers, whereas a project has many.
    select c.project, c.environment, c.customer
    from {schema}.customers as c
    where c.app_transactions @> $3::text::jsonb and c.app_transactions is not null
)
select f.customer
from found as f
where f.project = $1::text and f.environment = $2::text
order by starts_with(f.customer, '$unclaimed/'), f.customer
limit $4::bigint
