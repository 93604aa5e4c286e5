-- Projects whose reconciliation was requested, longest waiting first.
select project from {schema}.projects where requested_at is not null order by requested_at, project
