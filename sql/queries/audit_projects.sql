select project, created_at::text, catalog_version::text from deed.projects
