-- All that was noted: the log was accepted as it is.
delete from {schema}.lost_ends
