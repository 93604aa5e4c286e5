select number, name, digest from deed.migrations order by number
