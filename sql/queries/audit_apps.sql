select store, app, project, apple_id::text, receipts, counts_sandbox::text from deed.apps
