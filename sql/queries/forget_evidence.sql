-- Deletes old evidence on which no event is based. Returns the instant that the search reached and the number deleted.
-- $1 instant after which the evidence was filed, $2 instant before which it was filed, $3 number of pieces to examine
select reached, gone from {schema}.forget_evidence($1::bigint, $2::bigint, $3::bigint)
