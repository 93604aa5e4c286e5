-- $1 tokens that customers get, $2 tokens under which purchases wait
select {schema}.guard_tokens($1::text[], $2::text[])
