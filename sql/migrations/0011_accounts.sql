-- By what else a customer is found: the accounts of stores, and a refund that was asked for.
alter table deed.customers
    -- ["704…"]: the names of the accounts by which the customer uses apps; null where none is known.
    add column app_transactions jsonb,
    -- By when the last of the refunds that were asked for may be answered about.
    add column answer_by bigint;

create index customers_app_transactions on deed.customers
    using gin (app_transactions jsonb_path_ops) where app_transactions is not null;
create index customers_answer_by on deed.customers (project, environment, answer_by, customer)
    where answer_by is not null;
