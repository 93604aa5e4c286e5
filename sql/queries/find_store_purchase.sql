-- Whether the database tells of anything that a store has sold in production.
select exists (
    select from deed.holders as h where h.environment = 'production'
)
