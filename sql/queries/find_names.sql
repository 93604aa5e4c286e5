-- Objects of a project with exactly this name. Each kind is searched by the name alone.
-- $1 project, $2 environments, $3 name, $4 the original transaction's id in the name, $5 the store in
-- the name or null for any, $6 account token, $7 limit for each kind
select * from (
    select 'purchase' as kind, h.environment, h.customer, h.store, h.original, h.original as name
    from {schema}.holders as h
    where h.original = $4::text and h.project = $1::text and h.environment = any ($2::text[])
        and ($5::text is null or h.store = $5::text)
    limit $7::bigint
) as purchases
union all
select * from (
    select 'transaction', t.environment, t.customer, t.store, t.original, t.transaction_id
    from {schema}.transaction_names as t
    where t.transaction_id = $3::text and t.project = $1::text and t.environment = any ($2::text[])
        and t.original <> $3::text
    limit $7::bigint
) as transactions
union all
select * from (
    select 'web_order_line_item', t.environment, t.customer, t.store, t.original, t.transaction_id
    from {schema}.transaction_names as t
    where t.line_item = $3::text and t.project = $1::text and t.environment = any ($2::text[])
    limit $7::bigint
) as items
union all
select * from (
    select 'order', o.environment, o.customer, null, null, o.order_id
    from {schema}.order_owners as o
    where o.order_id = $3::text and o.project = $1::text and o.environment = any ($2::text[])
    limit $7::bigint
) as orders
union all
select * from (
    select 'account_token', t.environment, t.customer, null, null, t.token
    from {schema}.tokens as t
    where t.token = $6::text and t.project = $1::text and t.environment = any ($2::text[])
    limit $7::bigint
) as tokens
union all
select * from (
    select 'account_token', c.environment, c.customer, c.store, c.original, c.token
    from {schema}.carried_tokens as c
    where c.token = $6::text and c.project = $1::text and c.environment = any ($2::text[])
    limit $7::bigint
) as carried
union all
select * from (
    select 'account_token', u.environment, '$unclaimed/' || u.store || ':' || u.original, u.store,
        u.original, u.token
    from {schema}.unclaimed_tokens as u
    where u.token = $6::text and u.project = $1::text and u.environment = any ($2::text[])
    limit $7::bigint
) as waiting
union all
select * from (
    select 'grant', g.environment, g.customer, null, null, g.grant_id
    from {schema}.customer_grants as g
    where g.grant_id = $3::text and g.project = $1::text and g.environment = any ($2::text[])
    limit $7::bigint
) as grants
