-- 1 tokens that customers get, 2 tokens that purchases wait under
select {schema}.guard_tokens($1::text[], $2::text[])
