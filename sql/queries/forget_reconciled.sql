-- 1 project
delete from deed.reconciled where project = $1::text
