-- What people decide has two more types: a merge that is taken back, in the streams of both customers.
-- The condition stands word for word in list_acts.sql.
drop index deed.events_of_people;
create index events_of_people on deed.events (project, recorded_at, shard, seq) where type in (
    'grant.given', 'grant.changed', 'grant.revoked', 'purchase.attached', 'purchase.detached',
    'purchase.blocked', 'purchase.unblocked', 'balance.adjusted', 'order.closed', 'customer.merged',
    'customer.joined', 'customer.parted', 'customer.unmerged', 'customer.erased', 'project.created',
    'project.changed', 'key.created', 'key.revoked', 'key.rotated', 'catalog.changed', 'app.set',
    'app.removed', 'app.allowed', 'app.disallowed', 'webhook.set', 'webhook.removed',
    'reconciliation.started', 'log.accepted'
);
