-- $1 shard, $2 project, $3 store, $4 app
select p.environment, count(distinct p.customer), 0::bigint
from {schema}.purchases as p
where p.shard = $1::smallint and p.project = $2::text and p.store = $3::text and p.app = $4::text
group by p.environment
