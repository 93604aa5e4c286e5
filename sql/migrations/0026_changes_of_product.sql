-- A period ends when one of another product takes its place, however near its end.

-- The rows of customers are written anew from the log.
update deed.projects set projected_version = -1;
update deed.customers set catalog_version = -1;
