#!/bin/sh
# The PostgreSQL image runs this script once, when it creates the database. The script creates the login of the
# database's owner, for `deed migrate`, and the login for `deed serve`. Neither is a superuser, so a stolen login
# gives no access to other databases or to the machine.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 \
    --set database="$POSTGRES_DB" --set owner="$OWNER_PASSWORD" --set service="$SERVICE_PASSWORD" <<'SQL'
create role deed_service nologin;
create role deed_server login password :'service' in role deed_service;
create role deed_owner login password :'owner' in role deed_service;
alter database :"database" owner to deed_owner;
SQL
