-- $1 project, $2 store, $3 app, $4 environment, $5 endpoint, $6 now, $7 time from one call to the next, $8 how far
-- calls may run ahead of that pace. All times are in microseconds.
with taken as (
    insert into {schema}.store_budgets as b
        (project, store, app, environment, endpoint, used_until, rests_until)
    values ($1, $2, $3, $4, $5, $6::bigint + $7::bigint, 0)
    on conflict (project, store, app, environment, endpoint) do update
    set used_until = $7::bigint + case
        when b.used_until <= $6::bigint + $8::bigint + 90000000000
        then greatest(b.used_until, $6::bigint)
        else $6::bigint
    end
    -- No pause lasts longer than a day, so a time more than 25 hours ahead was written while a clock was wrong.
    where (b.rests_until <= $6::bigint or b.rests_until > $6::bigint + 90000000000)
        and (
            b.used_until <= $6::bigint + $8::bigint
            or b.used_until > $6::bigint + $8::bigint + 90000000000
        )
    returning true
)
select exists (select from taken),
    (select greatest(
            case when b.rests_until <= $6::bigint + 90000000000 then b.rests_until end,
            case when b.used_until <= $6::bigint + $8::bigint + 90000000000
                then b.used_until - $8::bigint end)
        from {schema}.store_budgets as b
        where b.project = $1 and b.store = $2 and b.app = $3 and b.environment = $4
            and b.endpoint = $5)
