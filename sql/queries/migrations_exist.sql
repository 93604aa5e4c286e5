select to_regclass('deed.migrations') is not null
