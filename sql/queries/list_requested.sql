-- Projects whose reconciliation was requested, the one that waits longest first.
select project from {schema}.projects where requested_at is not null order by requested_at, project
