-- Actions that people have taken, newest first. If more events may follow, the last row is the last event that was
-- read.
-- $1 project, $2 environment, $3 recorded at, $4 shard and $5 sequence of the place to continue from, $6 actor,
-- $7 customer, $8 type, $9 the ticket as a member, $10 recorded from, $11 recorded before, $12 maximum number of events
-- to read, $13 limit, $14 actors who are not people, $15 the customer that stands for the project, $16 the types of
-- actions
--
-- Relies on a generic plan: a custom plan multiplies the two conditions on the type, and sorts.
with looked as not materialized (
    select e.shard, e.seq, e.environment, e.customer, e.version, e.type, e.payload, e.recorded_at, e.actor
    from {schema}.events as e
    where e.project = $1::text
        -- Repeats the index's condition word for word. The index also contains events of every type that is not listed
        -- here.
        and e.type not in (
            'purchase.made', 'subscription.renewed', 'subscription.upgraded', 'subscription.extended',
            'purchase.refunded', 'purchase.revoked', 'refund.reversed', 'purchase.restated',
            'renewal.changed', 'renewal.restated', 'app.installed', 'refund.requested', 'refund.declined',
            'consent.rescinded', 'refund.report_prepared', 'refund.reported', 'refund.unreported',
            'balance.credited', 'balance.debited', 'balance.spent', 'order.opened', 'order.fulfilled',
            'token.registered', 'access.started', 'access.ended', 'access.ending_soon', 'account.joined',
            'reconciliation.finished'
        )
        and e.type = any ($16::text[])
        and (e.recorded_at, e.shard, e.seq) < ($3::bigint, $4::smallint, $5::bigint)
        and e.recorded_at >= $10::bigint and e.recorded_at < $11::bigint
    order by e.recorded_at desc, e.shard desc, e.seq desc
    limit $12::bigint
), fitting as materialized (
    select l.* from looked as l
    where (l.actor like 'key:%' or l.actor like 'cli:%' or l.actor like 'person:%')
        and l.actor <> all ($14::text[])
        and ($2::text is null or l.environment = $2::text or l.customer = $15::text)
        and ($6::text is null or l.actor = $6::text)
        and ($7::text is null or l.customer = $7::text)
        and ($8::text is null or l.type = $8::text)
        and ($9::text is null or position($9::text in l.payload) > 0)
        -- Events beyond the head are not part of the log.
        and l.seq between 1 and (
            select s.head from {schema}.shards as s where s.shard = l.shard
            order by s.head desc limit 1
        )
    order by l.recorded_at desc, l.shard desc, l.seq desc
    limit $13::bigint
)
select f.shard, f.seq, f.environment, f.customer, f.version, f.type, f.payload, f.recorded_at, f.actor, true
from fitting as f
union all
select * from (
    select l.shard, l.seq, l.environment, l.customer, l.version, l.type, l.payload, l.recorded_at, l.actor, false
    from looked as l
    -- Counts all events only if too few of them match.
    where case when (select count(*) from fitting) < $13::bigint
        then (select count(*) from looked) = $12::bigint else false end
    order by l.recorded_at, l.shard, l.seq
    limit 1
) as last
