select number, name, digest from {schema}.migrations order by number
