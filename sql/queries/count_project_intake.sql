-- 1 project, 2 number of tries after which a person should look
select count(*), count(*) filter (where tries >= $2::bigint)
from {schema}.intake where project = $1::text and state = 'waiting'
