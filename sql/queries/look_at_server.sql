-- The test clock's time, PostgreSQL's time, and whether the database accepts writes; how many standbys must confirm a
-- commit, how many can, and how many commits have waited a long time; whether an instance noted that the log lacks
-- events; and the database's requirements for programs.
select (select stands_at from {schema}.test_clock),
    (extract(epoch from clock_timestamp()) * 1000)::bigint,
    current_setting('transaction_read_only')::boolean,
    case
        when standbys.names = '' or current_setting('synchronous_commit') in ('local', 'off') then 0
        -- The setting has the form ANY 2 (a, b, c), FIRST 2 (a, b), 2 (a, b), or just names.
        else coalesce(substring(standbys.names from '(?i)^\s*(?:any|first)?\s*(\d+)\s*\(')::bigint, 1)
    end,
    seen.confirming, seen.waiting, exists (select from {schema}.lost_ends),
    format.number::bigint, format.program, format.migration
from (select current_setting('synchronous_standby_names') as names) as standbys
cross join {schema}.standbys() as seen
cross join {schema}.format as format
