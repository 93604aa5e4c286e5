-- $1 shard, $2 project, $3 catalog version; continue after $4 customer, $5 environment; $6 limit
select customer, environment from (
    (
        select customer, environment
        from {schema}.customers
        where shard = $1::smallint and project = $2::text and catalog_version < $3::bigint
            and (customer, environment) > ($4::text, $5::text)
        order by customer, environment
        limit $6::bigint
    )
    union
    -- If a repair wrote the rows with the newest catalog, only waiting credits show that they were outdated.
    (
        select distinct customer, environment
        from {schema}.waiting_credits
        where shard = $1::smallint and project = $2::text
            and (customer, environment) > ($4::text, $5::text)
        order by customer, environment
        limit $6::bigint
    )
) as outdated
order by customer, environment
limit $6::bigint
