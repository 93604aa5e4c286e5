-- What a repair found is noted before it writes, so that a run that is killed then still tells it.

-- Whether the part came to its end.
alter table deed.reconciled add column is_done boolean not null default true;
