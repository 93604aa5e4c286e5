select store, app, project from {schema}.apps order by store, app
