select project, created_at from deed.projects order by project
