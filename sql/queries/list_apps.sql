select store, app, project, apple_id, receipts, counts_sandbox from deed.apps order by store, app
