select distinct project from deed.events where customer = '$project/' order by project
