select stands_at from {schema}.test_clock
