select project, created_at from {schema}.projects order by project
