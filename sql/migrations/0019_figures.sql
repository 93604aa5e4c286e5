-- What was counted about customers, for people to look at: a row for each project and environment.
create table deed.figures (
    project text not null,
    environment text not null,
    -- As of when it was counted.
    counted_at bigint not null,
    -- {"entitlements": {"pro": [now, a week ago]}, "products": {}, "ending": 3, "refunds": 2, "unclaimed": 1}
    counts json not null,
    -- What ends first, and what was refunded last. An erasure takes away what is about its customers.
    items json not null,
    constraint figures_pkey primary key (project, environment)
);

grant select, insert, update on deed.figures to deed_service;
