-- 1 digest after which, 2 limit
select digest, kind, first_seen_at, verdict, content, certificates
from deed.evidence where digest > $1 order by digest limit $2
