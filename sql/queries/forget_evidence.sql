-- Deletes old evidence on which no event is based. Returns the instant that the search reached and the number deleted.
-- 1 filed after this instant, 2 filed before this one, 3 how many pieces to look at
select reached, gone from {schema}.forget_evidence($1::bigint, $2::bigint, $3::bigint)
