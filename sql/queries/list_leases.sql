-- When each shared job last began a run that came to its end, by Deed's clock.
select name, ran_at from {schema}.leases where ran_at is not null order by name
