select project, projected_version from {schema}.projects
