-- Deletes rows under tokens that now belong to customers: the rows of the examined purchases, and the
-- rows of all purchases that these customers hold.
-- $1 projects, $2 environments, $3 tokens, $4 stores, $5 originals, $6 customers
delete from {schema}.carried_tokens as c
using unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as gone (project, environment, token, store, original, customer)
where c.token = gone.token and c.project = gone.project and c.environment = gone.environment
    and ((c.store, c.original) = (gone.store, gone.original) or c.customer = gone.customer)
