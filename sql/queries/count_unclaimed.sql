-- 1 stop counting at this number
select count(*) from (select from {schema}.unclaimed limit $1::bigint) as waiting
