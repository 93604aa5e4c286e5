select project, projected_version from deed.projects
