-- $1 shard, $2 project, $3 instant
select environment, customer, count(*) from {schema}.orders
where shard = $1::smallint and project = $2::text and expires_at <= $3::bigint
    and fulfilled_by is null and closed_at is null
group by environment, customer
