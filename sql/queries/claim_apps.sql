-- $1 stores, $2 apps, $3 projects, $4 Apple ids, $5 judges of receipts, $6 whether the sandbox counts
select {schema}.claim_apps(
    $1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::boolean[]
)
