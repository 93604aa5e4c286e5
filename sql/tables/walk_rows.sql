-- In the order of the key's index: the shard where it leads, the key after which, then a project or null for all, and
-- how many.
select {texts}
from {schema}.{table} as t
where {shard}({order}) > ({after}) and ({project}::text is null or t.project = {project}::text)
order by {order}
limit {limit}::bigint
