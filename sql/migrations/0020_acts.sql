-- The index of acts leaves out what Deed and the stores decide. It has any other type, so a new act needs no new index.
-- The condition is word for word in list_acts.sql.
--
-- Each statement is a separate transaction, and no write waits for them. What an interrupted run left behind is removed
-- first. At every point there is a valid index, so that the trail stays fast while this waits for old transactions.
drop index concurrently if exists deed.events_of_acts;
create index concurrently events_of_acts on deed.events (project, recorded_at, shard, seq) where type not in (
    'purchase.made', 'subscription.renewed', 'subscription.upgraded', 'subscription.extended',
    'purchase.refunded', 'purchase.revoked', 'refund.reversed', 'purchase.restated', 'renewal.changed',
    'renewal.restated', 'app.installed', 'refund.requested', 'refund.declined', 'consent.rescinded',
    'refund.report_prepared', 'refund.reported', 'refund.unreported', 'balance.credited', 'balance.debited',
    'balance.spent', 'order.opened', 'order.fulfilled', 'token.registered', 'access.started', 'access.ended',
    'access.ending_soon', 'account.joined', 'reconciliation.finished'
);
drop index concurrently if exists deed.events_of_acts_before;
alter index if exists deed.events_of_people rename to events_of_acts_before;
alter index deed.events_of_acts rename to events_of_people;
drop index concurrently if exists deed.events_of_acts_before;
