-- 1 tries from which an operator should look
select count(*), count(*) filter (where tries >= $1), min(added_at)
from {schema}.intake where state = 'waiting'
