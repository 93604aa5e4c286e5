#!/bin/sh
# Runs once, in the PostgreSQL image, when its database is made: the login of `deed serve`. It is a
# member of deed_service and nothing else, so that no session of it can change the log.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --set ON_ERROR_STOP=1 --set password="$SERVICE_PASSWORD" <<'SQL'
create role deed_service nologin;
create role deed_server login password :'password' in role deed_service;
SQL
