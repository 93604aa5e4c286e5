-- 1 project, 2 store, 3 app, of which nothing is kept unless the project has it
delete from deed.store_credentials as c
where c.project = $1 and c.store = $2 and c.app = $3
    and not exists (
        select from deed.apps as a
        where a.store = c.store and a.app = c.app and a.project = c.project
    )
