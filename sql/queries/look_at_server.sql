-- Where the test clock stands, what PostgreSQL's clock shows, and whether it can be written to: how many standbys must
-- confirm a commit, how many do, and how many commits have waited for them for long.
select (select stands_at from deed.test_clock),
    (extract(epoch from clock_timestamp()) * 1000)::bigint,
    current_setting('transaction_read_only')::boolean,
    case
        when standbys.names = '' or current_setting('synchronous_commit') in ('local', 'off') then 0
        -- ANY 2 (a, b, c), FIRST 2 (a, b), 2 (a, b), or just names.
        else coalesce(substring(standbys.names from '(?i)^\s*(?:any|first)?\s*(\d+)\s*\(')::bigint, 1)
    end,
    -- What they are is hidden from who may not see it; that they are there is not.
    (select count(*) from pg_stat_replication as r
        where r.sync_state in ('sync', 'quorum') or r.sync_state is null),
    (select count(*) from pg_stat_activity as a
        where a.wait_event = 'SyncRep' and a.datname = current_database()
            and a.state_change < clock_timestamp() - interval '2 seconds')
from (select current_setting('synchronous_standby_names') as names) as standbys
