select e.payload
from deed.projects as p
cross join lateral (
    select e.payload from deed.events as e
    where e.project = p.project and e.environment = 'production' and e.customer = '$project/'
        and e.type = 'log.accepted'
) as e
