-- $1 project, $2 number of tries from which a person should look at an item
select count(*), count(*) filter (where tries >= $2::bigint)
from {schema}.intake where project = $1::text and state = 'waiting'
