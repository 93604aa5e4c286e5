select stands_at from deed.test_clock
