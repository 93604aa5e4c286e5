# Sourced by scripts that need a private PostgreSQL. It listens only on a socket in a temporary folder, and ends with
# the script, even if the script is interrupted.
# shellcheck shell=bash

say() { printf '%s\n' "== $*" >&2; }
fail() { printf '%s\n' "error: $*" >&2; exit 1; }

# Processes of the script that must end with it.
owned_processes=()

# Makes $scratch. When the script ends, it removes $scratch and stops everything that runs there.
make_scratch() {
    scratch=$(mktemp -d -p "${TMPDIR:-/tmp}" --suffix=".$1")
    trap finish EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

finish() {
    status=$?
    trap - EXIT INT TERM HUP
    for process in ${owned_processes[@]+"${owned_processes[@]}"}; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    if [ -f "$scratch/data/postmaster.pid" ]; then
        ${as_postgres[@]+"${as_postgres[@]}"} "$postgres_programs/pg_ctl" -D "$scratch/data" -m immediate stop >/dev/null 2>&1 || true
    fi
    rm -rf "$scratch"
    exit "$status"
}

# Sets $postgres_programs to the folder of the newest server on this machine, and $as_postgres to the command for
# running it as its user.
find_postgres() {
    postgres_programs=
    for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) "$(pg_config --bindir 2>/dev/null || true)"; do
        if [ -x "$folder/initdb" ]; then postgres_programs=$folder; break; fi
    done
    [ -n "$postgres_programs" ] || fail "the PostgreSQL server is not installed; install the package postgresql"
    # PostgreSQL refuses to run as root.
    as_postgres=()
    if [ "$(id -u)" -eq 0 ]; then as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups); fi
}

# Starts the server in $scratch, with the arguments as additional settings. The database NAME is then at
# "$(database_url NAME)". Only the server's user and root can enter the socket's folder.
start_postgres() {
    say "starting PostgreSQL from $postgres_programs"
    if [ "$(id -u)" -eq 0 ]; then chown postgres "$scratch"; fi
    (
        cd /
        ${as_postgres[@]+"${as_postgres[@]}"} "$postgres_programs/initdb" -D "$scratch/data" -U deed --auth=trust --encoding=UTF8 --locale=C >"$scratch/initdb.log" 2>&1 || { cat "$scratch/initdb.log" >&2; exit 1; }
        ${as_postgres[@]+"${as_postgres[@]}"} "$postgres_programs/pg_ctl" -D "$scratch/data" -l "$scratch/data/log" -w -t 30 \
            -o "-k $scratch -c listen_addresses='' -c max_connections=200 $*" start >/dev/null || { cat "$scratch/data/log" >&2; exit 1; }
    ) || fail "the private PostgreSQL did not start"
}

database_url() { printf '%s' "postgresql:///$1?host=$scratch&user=deed"; }
