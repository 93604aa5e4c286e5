-- 1 up to how many
select count(*) from (select from {schema}.unclaimed limit $1::bigint) as waiting
