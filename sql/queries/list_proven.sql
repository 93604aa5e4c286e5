select shard, head, chain from deed.proven
