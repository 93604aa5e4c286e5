-- $1 project
select key_id, used_at from {schema}.key_uses where project = $1::text
