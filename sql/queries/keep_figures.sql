-- Runs while the row is locked. Leaves out the items of customers who have been erased since they were counted.
-- $1 project, $2 environment, $3 instant of the count, $4 counts, $5 items
update {schema}.figures set counted_at = $3::bigint, counts = $4::json, items = (
    select coalesce(json_agg(i.item order by i.place), '[]')
    from json_array_elements($5::json) with ordinality as i (item, place)
    where not exists (
        select from {schema}.events as e
        where e.customer = i.item ->> 'customer' and e.project = $1::text
            and e.environment = $2::text and e.type = 'customer.erased'
            and e.version > (i.item ->> 'version')::bigint
    )
)
where project = $1::text and environment = $2::text
