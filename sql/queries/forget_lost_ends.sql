-- Deletes all notes, because an operator has accepted the log as it is.
delete from {schema}.lost_ends
