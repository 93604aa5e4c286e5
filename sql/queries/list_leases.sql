-- When the last completed run of each shared job began, by Deed's clock.
select name, ran_at from {schema}.leases where ran_at is not null order by name
