-- $1 name, $2 fence, $3 beginning of the completed run
update {schema}.leases set held_until = 0, ran_at = coalesce($3, ran_at)
where name = $1 and fence = $2
returning name
