-- Deletes all notes, because the log was accepted as it is.
delete from {schema}.lost_ends
