-- What people decide has two more types: notes about customers. The condition stands word for word in list_acts.sql.
--
-- Each statement is a transaction of its own, and no write waits for them. What an earlier try left behind goes first.
drop index concurrently if exists deed.events_of_acts;
create index concurrently events_of_acts on deed.events (project, recorded_at, shard, seq) where type in (
    'grant.given', 'grant.changed', 'grant.revoked', 'purchase.attached', 'purchase.detached',
    'purchase.blocked', 'purchase.unblocked', 'balance.adjusted', 'order.closed', 'customer.merged',
    'customer.joined', 'customer.parted', 'customer.unmerged', 'customer.erased', 'project.created',
    'project.changed', 'key.created', 'key.revoked', 'key.rotated', 'catalog.changed', 'app.set',
    'app.removed', 'app.allowed', 'app.disallowed', 'webhook.set', 'webhook.removed',
    'reconciliation.started', 'log.accepted', 'note.added', 'note.removed'
);
drop index concurrently if exists deed.events_of_people;
alter index deed.events_of_acts rename to events_of_people;
