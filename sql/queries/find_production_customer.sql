-- Whether the database has any customer in production, or evidence that waits for one.
select exists (select from deed.customers as c where c.environment = 'production')
    or exists (select from deed.holders as h where h.environment = 'production')
    or exists (select from deed.unclaimed as u where u.environment = 'production')
    or exists (select from deed.tokens as t where t.environment = 'production')
    or exists (select from deed.intake as i where i.environment = 'production')
