-- $1 project, $2 customer, $3 environment
select id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries, next_try_at,
    code, sentence, results, actor, reason, ticket, added_at, changed_at, revision, evidence
from {schema}.intake
where customer = $2::text and project = $1::text and environment = $3::text
order by added_at, id
