-- Locks the row, so that this commit waits for the same standbys as the commit that added the row. A
-- standby may not have the row yet.
-- $1 id, $2 project, $3 digest, $4 purpose, $5 environment, $6 customer
select id, project, purpose, customer, order_id, environment, kind, app, digest, state, tries, next_try_at,
    code, sentence, results, actor, reason, ticket, added_at, changed_at, revision
from {schema}.intake
where id = $1 or (
    project = $2 and digest = $3 and purpose = $4 and environment = $5
    and coalesce(customer, '') = coalesce($6, '') and state = 'waiting'
)
order by id <> $1
limit 1
for update
