#!/bin/sh
# Runs once, in the PostgreSQL image, when its database is made: the owner of the database, by whose login
# `deed migrate` works, and the login of `deed serve`. Neither is a superuser, so that what breaks in there
# reaches neither other databases nor the machine.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 \
    --set database="$POSTGRES_DB" --set owner="$OWNER_PASSWORD" --set service="$SERVICE_PASSWORD" <<'SQL'
create role deed_service nologin;
create role deed_server login password :'service' in role deed_service;
create role deed_owner login password :'owner' in role deed_service;
alter database :"database" owner to deed_owner;
SQL
