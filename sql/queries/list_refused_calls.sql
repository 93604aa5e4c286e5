-- Refused calls, newest first.
-- $1 project, $2 environment; continue before $3 at, $4 id; $5 key, $6 customer, $7 call, $8 ticket, $9 from,
-- $10 before, $11 limit, $12 instant of the oldest wanted call
select r.at, r.id, r.key_id, r.call, r.customer, r.environment, r.status, r.code, r.reason, r.ticket
from {schema}.refused_calls as r
where r.project = $1::text and (r.at, r.id) < ($3::bigint, $4::text)
    and r.at >= greatest($9::bigint, $12::bigint) and r.at < $10::bigint
    and ($2::text is null or r.environment = $2::text or r.environment is null)
    and ($5::text is null or r.key_id = $5::text)
    and ($6::text is null or r.customer = $6::text)
    and ($7::text is null or r.call = $7::text)
    and ($8::text is null or r.ticket = $8::text)
order by r.at desc, r.id desc
limit $11::bigint
