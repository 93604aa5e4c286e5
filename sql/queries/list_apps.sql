select store, app, project from deed.apps order by store, app
