-- Returns rows in the order of the key's index. Parameters: the shard if the index starts with it, the key
-- after which to continue, a project or null for all, and the limit.
select {texts}
from {schema}.{table} as t
where {shard}({order}) > ({after}) and ({project}::text is null or t.project = {project}::text)
order by {order}
limit {limit}::bigint
