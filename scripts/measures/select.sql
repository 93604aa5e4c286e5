\set id random(1, 10000)
select payload from selected where id = :id;
