-- 1 shard, 2 project, 3 customer, 4 environment, 5 store, 6 original and 7 transaction after which,
-- 8 how many
select w.customer, w.environment, w.store, w.original, w.transaction_id, w.product
from {schema}.waiting_credits as w
where w.shard = $1::smallint and w.project = $2::text
    and (w.customer, w.environment, w.store, w.original, w.transaction_id)
        > ($3::text, $4::text, $5::text, $6::text, $7::text)
order by w.customer, w.environment, w.store, w.original, w.transaction_id
limit $8::bigint
