declare names no scroll cursor for select project, environment, order_id, customer from deed.order_owners
