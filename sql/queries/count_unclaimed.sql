-- $1 number at which counting stops
select count(*) from (select from {schema}.unclaimed limit $1::bigint) as waiting
