select to_regclass('{schema}.migrations') is not null
