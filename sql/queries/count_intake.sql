-- $1 number of tries from which an operator should look at an item
select count(*), count(*) filter (where tries >= $1 and code is distinct from 'purchase_pending'), min(added_at)
from {schema}.intake where state = 'waiting'
