-- 1 count no further than this
select count(*) from (select from {schema}.unclaimed limit $1::bigint) as waiting
