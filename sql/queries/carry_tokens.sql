-- $1 projects, $2 environments, $3 tokens, $4 stores, $5 originals, $6 customers, $7 apps, $8 whether the
-- token's owner was known
select {schema}.carry_tokens(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[]
)
