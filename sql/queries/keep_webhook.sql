-- $1 project, $2 webhook, $3 the lease's name, $4 its fence; the place: $5 cursor, $6 resumptions, $7 failing since,
-- $8 parked at, $9 gone at, $10 rests until, $11 oldest at, $12 attempts; waiting customers: $13 customers, $14 shards,
-- $15 positions, $16 versions, $17 parts, $18 attempts, $19 due at, $20 recorded at; $21 customers who no longer wait;
-- attempts: $22 numbers, $23 messages, $24 types, $25 customers, $26 attempts, $27 instants, $28 durations,
-- $29 statuses, $30 errors, $31 answers, $32 replays; $33 number of attempts to keep, $34 instant of the oldest attempt
-- to keep; replays: $35 ids, $36 cursors, $37 sent, $38 failed, $39 whether they are over; $40 erased customers
with held as materialized (
    -- Keeps other instances from taking the lease until the transaction ends.
    select from {schema}.leases where name = $3 and fence = $4 for share
), place as (
    update {schema}.webhook_places set
        cursor = $5, resumptions = $6, failing_since = $7, parked_at = $8, gone_at = $9,
        rests_until = $10, oldest_at = $11, attempts = $12
    where project = $1 and webhook = $2 and exists (select from held)
    returning 1
), waited as (
    insert into {schema}.webhook_waiting as w (
        project, webhook, customer, shard, seq, version, part, attempts, due_at, recorded_at)
    select $1, $2, n.*
    from unnest(
            $13::text[], $14::smallint[], $15::bigint[], $16::bigint[], $17::smallint[],
            $18::bigint[], $19::bigint[], $20::bigint[]) as n
    where exists (select from place)
    on conflict (project, webhook, customer) do update set
        shard = excluded.shard, seq = excluded.seq, version = excluded.version,
        part = excluded.part, attempts = excluded.attempts, due_at = excluded.due_at,
        recorded_at = excluded.recorded_at
), served as (
    delete from {schema}.webhook_waiting
    where project = $1 and webhook = $2 and customer = any ($21::text[])
        and exists (select from place)
), tried as (
    insert into {schema}.webhook_attempts (
        project, webhook, number, message, type, customer, attempt, at, milliseconds, status, error,
        answer, replay)
    select $1, $2, n.*
    from unnest(
            $22::bigint[], $23::text[], $24::text[], $25::text[], $26::bigint[], $27::bigint[],
            $28::bigint[], $29::bigint[], $30::text[], $31::text[], $32::text[]) as n
    where exists (select from place)
    -- If the reply to the first call was lost, the repeated call finds these rows.
    on conflict (project, webhook, number) do nothing
), forgotten as (
    delete from {schema}.webhook_attempts
    where project = $1 and webhook = $2 and exists (select from place)
        and (number <= $12 - $33::bigint or number in (
            -- Deletes only some of the oldest attempts, so that no write reads all of them.
            select o.number from (
                select a.number, a.at from {schema}.webhook_attempts as a
                where a.project = $1 and a.webhook = $2
                order by a.number
                limit 100
            ) as o
            where o.at < $34::bigint
        ))
), erased as (
    -- Attempts that were stored while the erasure was under way. It may have deleted the others before.
    delete from {schema}.webhook_attempts
    where project = $1 and webhook = $2 and customer = any ($40::text[])
        and cardinality($40::text[]) > 0 and exists (select from place)
), replayed as (
    update {schema}.webhook_replays as r set
        cursor = n.cursor, sent = n.sent, failed = n.failed, is_over = n.is_over
    from unnest($35::text[], $36::text[], $37::bigint[], $38::bigint[], $39::boolean[])
            as n (replay, cursor, sent, failed, is_over)
    where r.project = $1 and r.webhook = $2 and r.replay = n.replay and exists (select from place)
)
select count(*) from place
