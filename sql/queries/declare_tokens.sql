declare names no scroll cursor for select project, environment, token, customer from deed.tokens
