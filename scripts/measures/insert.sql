insert into inserted (payload) values (repeat('x', 200));
