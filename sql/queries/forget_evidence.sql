-- Deletes old evidence on which no event rests. Returns up to which instant it has looked, and how many pieces went.
-- 1 filed after this instant, 2 filed before this one, 3 how many pieces to look at
select reached, gone from {schema}.forget_evidence($1::bigint, $2::bigint, $3::bigint)
