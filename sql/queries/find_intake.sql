-- $1 project, $2 id
select id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries, next_try_at,
    code, sentence, results, actor, reason, ticket, added_at, changed_at, revision
from {schema}.intake where id = $2 and project = $1
