-- $1 digests
select digest, project, environment, kind, app, signed_at, first_seen_at, verdict, content, certificates,
    seal
from {schema}.evidence where digest = any($1::bytea[])
