-- 1 shard, 2 project, 3 catalog version, 4 after which customer, 5 and environment, 6 how many
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
    -- A repair may have written the rows by the newest catalog, and then nothing else tells of them.
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
