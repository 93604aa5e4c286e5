-- $1 project, $2 store, $3 app; continue after $4 instant, $5 original, $6 environment; $7 limit
select q.environment, q.original, q.customer, q.newest_at, q.obstacle
from {schema}.history_questions as q
where q.project = $1::text and q.store = $2::text and q.app = $3::text
    and q.newest_at <= $4::bigint
    and (q.newest_at < $4::bigint or (q.original, q.environment) > ($5::text, $6::text))
order by q.newest_at desc, q.original, q.environment
limit $7::bigint
