-- Runs before forget_person, in the same transaction. It waits for a setup of the person's second factor.
-- $1 person
delete from {schema}.people where person = $1::text
