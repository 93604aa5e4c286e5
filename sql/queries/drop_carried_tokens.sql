-- Deletes the tokens of purchases that left their holder, or that stay regardless of their tokens.
-- $1 projects, $2 environments, $3 customers, $4 stores, $5 originals
delete from {schema}.carried_tokens as c
using unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
    as gone (project, environment, customer, store, original)
where c.customer = gone.customer and c.project = gone.project
    and c.environment = gone.environment and c.store = gone.store and c.original = gone.original
