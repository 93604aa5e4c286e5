-- All that was noted: the log was accepted as it is.
delete from deed.lost_ends
