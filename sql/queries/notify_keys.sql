select pg_notify('deed_keys', '')
