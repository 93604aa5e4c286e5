-- When an answer changes next was kept for test clocks alone, and every write paid for the column and its
-- index. A test clock reads the runs of access instead.

drop index deed.customers_next_change;
alter table deed.customers drop column next_change_at;
