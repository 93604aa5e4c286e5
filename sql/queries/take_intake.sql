-- $1 now, $2 instants at which the item is released, by the number of tries so far (the last instant for all further
-- tries), $3 kinds and $4 apps that are left out together, $5 whether to leave out everything that a store judges,
-- $6 kinds that a store judges for every app, $7 kinds that a store judges for some apps, $8 the store of each of these
update {schema}.intake as i set
    tries = i.tries + 1,
    next_try_at = ($2::bigint[])[least(i.tries + 1, cardinality($2::bigint[]))],
    changed_at = $1, revision = i.revision + 1
-- A subquery is evaluated only once. A join may search again for each row and find a different item.
where i.id = (
    select id from {schema}.intake
    where state = 'waiting' and next_try_at <= $1
        -- Apps in two stores may have the same name.
        and not (
            (kind, app) in (select * from unnest($3::text[], $4::text[]))
            or $5::boolean and (
                kind = any ($6::text[])
                or (kind, app) in (
                    select k.kind, a.app from unnest($7::text[], $8::text[]) as k (kind, store)
                    join {schema}.apps as a on a.store = k.store and a.receipts = 'store'
                )
            )
        )
    order by tries, next_try_at
    limit 1
    for update skip locked
)
returning i.id, i.project, i.purpose, i.customer, i.order_id, i.environment, i.kind, i.app, i.digest,
    i.state, i.tries, i.next_try_at, i.code, i.sentence, i.results, i.actor, i.reason, i.ticket,
    i.added_at, i.changed_at, i.revision, i.evidence
