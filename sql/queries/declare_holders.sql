declare names no scroll cursor for select project, store, environment, app, original, customer from deed.holders
