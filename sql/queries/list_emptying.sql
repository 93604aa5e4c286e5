-- 1 how many
-- By chance, so that some that fail do not stand before all others.
select project, environment, customer from {schema}.emptying order by random() limit $1::bigint
