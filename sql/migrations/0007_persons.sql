-- Keys may end by themselves, and be bound to an environment.
alter table deed.keys add column expires_at bigint;
alter table deed.keys add column environment text check (environment in ('production', 'sandbox'));

-- The keys of support staff.
alter table deed.keys drop constraint keys_role_check;
alter table deed.keys add constraint keys_role_check
    check (role in ('reader', 'support', 'backend', 'admin'));

-- When each key was last used, to the hour, as instances say. Nothing but what operators are shown depends on it.
create table deed.key_uses (
    project text not null check (octet_length(project) between 1 and 256),
    key_id text not null check (octet_length(key_id) between 1 and 256),
    used_at bigint not null,
    constraint key_uses_pkey primary key (project, key_id)
);

grant select, insert, update on deed.key_uses to deed_service;

-- What people decide, the newest last. What back ends and stores do is not in it, and stays as cheap as it was.
-- The condition stands word for word in list_acts.sql.
create index events_of_people on deed.events (project, recorded_at, shard, seq) where type in (
    'grant.given', 'grant.changed', 'grant.revoked', 'purchase.attached', 'purchase.detached',
    'purchase.blocked', 'purchase.unblocked', 'balance.adjusted', 'order.closed', 'customer.merged',
    'customer.joined', 'customer.erased', 'project.created', 'project.changed', 'key.created',
    'key.revoked', 'key.rotated', 'catalog.changed', 'app.set', 'app.removed', 'app.allowed',
    'app.disallowed', 'webhook.set', 'webhook.removed', 'reconciliation.started', 'log.accepted'
);

-- Calls of people's keys that were refused. Nothing proves them, and nothing depends on them.
create table deed.refused_calls (
    project text not null check (octet_length(project) between 1 and 256),
    at bigint not null,
    -- Chosen by the instance that refused.
    id text not null check (octet_length(id) between 1 and 64),
    key_id text not null check (octet_length(key_id) between 1 and 256),
    -- Method and pattern.
    call text not null check (octet_length(call) between 1 and 256),
    customer text check (octet_length(customer) between 1 and 256),
    environment text check (environment in ('production', 'sandbox')),
    status smallint not null,
    code text not null check (octet_length(code) between 1 and 64),
    reason text check (octet_length(reason) between 1 and 256),
    ticket text check (octet_length(ticket) between 1 and 256),
    constraint refused_calls_pkey primary key (project, at, id)
);
create index refused_calls_of_customer on deed.refused_calls (customer, project)
    where customer is not null;

grant select, insert, delete on deed.refused_calls to deed_service;
