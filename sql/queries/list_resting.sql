-- Returns only events up to the head, as in load_streams.
-- $1 shard, $2 seq after which to start, $3 limit, $4 types of events that evidence states
select e.seq, e.project, e.environment, e.type, e.evidence, e.format, e.payload
from {schema}.events as e
where e.shard = $1::smallint and e.seq > $2::bigint and e.seq <= (
        select s.head from {schema}.shards as s where s.shard = $1::smallint
        order by s.head desc limit 1
    )
    and (e.evidence is not null or e.type = any($4::text[]))
order by e.seq
limit $3::bigint
