-- 1 projects, 2 stores, 3 environments, 4 apps, 5 originals, 6 customers, 7 whether they moved
select deed.hold(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[]
)
