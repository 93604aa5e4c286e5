-- $1 projects, $2 environments, $3 tokens, $4 customers
select {schema}.claim_tokens($1::text[], $2::text[], $3::text[], $4::text[])
