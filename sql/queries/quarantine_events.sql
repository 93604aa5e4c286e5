-- Locks the shards, so that events beyond a head cannot belong to a commit in progress.
-- $1 now
with heads as (
    select s.shard, s.head
    from generate_series(0, 63) as number
    cross join lateral (
        select * from {schema}.shards as s where s.shard = number::smallint
        order by s.head desc limit 1
    ) as s
), moved as (
    delete from {schema}.events as e using heads as h
    where e.shard = h.shard and e.seq > h.head
    returning e.*, h.head as head
), before as (
    delete from {schema}.events as e
    where e.shard between 0 and 63 and e.seq < 1
    returning e.*, 0::bigint as head
), strays as (
    delete from {schema}.events as e
    where e.shard < 0 or e.shard > 63
    returning e.*, 0::bigint as head
), gone as (
    table moved union all table before union all table strays
), kept as (
    insert into {schema}.quarantined_events (
        shard, seq, project, environment, customer, version, type, payload, digest, chain,
        occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version,
        evidence, format, head, quarantined_at, quarantined_by
    )
    select shard, seq, project, environment, customer, version, type, payload, digest, chain,
        occurred_at, recorded_at, actor, cause, cause_index, cause_digest, catalog_version,
        evidence, format, head, $1::bigint, session_user
    from gone
)
select shard, seq, customer, type from gone order by shard, seq
