-- 1 stores, 2 apps, 3 projects
select deed.claim_apps($1::text[], $2::text[], $3::text[])
