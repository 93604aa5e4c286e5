select project, catalog_version from {schema}.projects
where projected_version < catalog_version
order by project
