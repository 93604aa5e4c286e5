select project, created_at::text, catalog_version::text, publishes_since::text from deed.projects
