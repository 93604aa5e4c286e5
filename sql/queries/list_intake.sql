-- $1 project, $2 state, or null for any; continue after $3 added_at, $4 id; $5 limit
select id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries, next_try_at,
    code, sentence, results, actor, reason, ticket, added_at, changed_at, revision
from {schema}.intake
where project = $1 and ($2::text is null or state = $2) and (added_at, id) > ($3, $4)
order by added_at, id
limit $5
