-- $1 projects, $2 environments, $3 tokens, $4 stores, $5 originals, $6 apps, $7 whether the token's owner
-- was known
select {schema}.await_tokens(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[]
)
