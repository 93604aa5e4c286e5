select shard, head, chain from {schema}.proven
