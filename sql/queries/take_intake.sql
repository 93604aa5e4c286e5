-- $1 now, $2 instants at which the item is released, by the number of tries so far (the last instant for all further
-- tries), $3 apps whose receipts are left out, $4 whether to leave out everything that a store judges, $5 kinds that a
-- store may have to judge, $6 kinds that a store judges for every app
update {schema}.intake as i set
    tries = i.tries + 1,
    next_try_at = ($2::bigint[])[least(i.tries + 1, cardinality($2::bigint[]))],
    changed_at = $1, revision = i.revision + 1
-- A subquery is evaluated only once. A join may search again for each row and find a different item.
where i.id = (
    select id from {schema}.intake
    where state = 'waiting' and next_try_at <= $1
        and not (
            kind = any ($5::text[]) and (
                app = any ($3::text[])
                or $4::boolean and (
                    kind = any ($6::text[])
                    or app in (select app from {schema}.apps where receipts = 'store')
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
