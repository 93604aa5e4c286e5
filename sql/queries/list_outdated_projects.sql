select project, catalog_version from deed.projects
where projected_version < catalog_version
order by project
