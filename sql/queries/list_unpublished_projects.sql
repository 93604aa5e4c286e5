-- Projects whose boundaries nothing has published so far.
select project from deed.projects where publishes_since is null order by project
