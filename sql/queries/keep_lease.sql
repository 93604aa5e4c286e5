-- 1 name, 2 fence, 3 until when
update {schema}.leases set held_until = $3 where name = $1 and fence = $2 returning name
