# The measured server, and the load on it.
# shellcheck shell=bash

# Creates the schema and the keys, and leaves a server running.
prepare_server() {
    DEED_DATABASE_URL=$(database_url deed)
    export DEED_DATABASE_URL DEED_DATA_DIR="$scratch/deed"
    set_up_database
    start_server
}

# Sets $admin_key.
set_up_database() {
    "$programs/deed" migrate >/dev/null
    "$programs/deed" project create default >/dev/null
    admin_key=$("$programs/deed" key create --role admin --json | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
    [ -n "$admin_key" ] || fail "no key was made"
}

# Starts `deed serve`. Sets $server, $port, and $ready_ms, the time to the first 200 of /readyz.
start_server() {
    local before=${EPOCHREALTIME/[.,]/} log=$scratch/serve.log
    : >"$log"
    "$programs/deed" serve --listen 127.0.0.1:0 2>>"$log" &
    server=$!
    owned_processes+=("$server")
    port=
    for _ in {1..2000}; do
        if [ -z "$port" ] && [[ "$(<"$log")" =~ \"port\":([0-9]+) ]]; then port=${BASH_REMATCH[1]}; fi
        if [ -n "$port" ] && is_ready; then
            ready_ms=$(((${EPOCHREALTIME/[.,]/} - before) / 1000))
            return
        fi
        sleep 0.002
    done
    cat "$log" >&2
    fail "the server did not become ready"
}

stop_server() {
    kill "$server"
    wait "$server" 2>/dev/null || true
}

# Uses the shell's own socket, because starting a client would take longer than the answer.
is_ready() {
    local line
    exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    read -r line <&3
    exec 3>&-
    [[ "$line" == *" 200 "* ]]
} 2>/dev/null

# Prints the server's resident memory in megabytes.
server_memory() { awk '/^VmRSS:/ { printf "%.1f\n", $2 / 1024 }' "/proc/$server/status"; }

# Prints the server's resident memory in bytes.
server_bytes() { awk '/^VmRSS:/ { print $2 * 1024 }' "/proc/$server/status"; }

# Gives each of the customers reader-0 to reader-9999 a grant.
grant_readers() {
    local number
    for ((number = 0; number < 10000; number++)); do
        printf 'url = "http://127.0.0.1:%s/v1/customers/reader-%s/grants"\n' "$port" "$number"
    done >"$scratch/readers"
    curl -s --parallel --parallel-max 64 --fail-early -f -K "$scratch/readers" \
        -H "Authorization: Bearer $admin_key" -H "Content-Type: application/json" \
        -d '{"entitlement":"pro","for":"P30D","reason":"measured"}' >/dev/null 2>"$scratch/curl.log" ||
        fail "cannot make the customers to read"
}

# load SCRIPT CONNECTIONS SECONDS URL [ARGUMENT ...]: prints requests per second and the 99th percentile in
# milliseconds. Writes the median and the slowest time to the files p50 and slowest. Any answer other than 2xx fails
# the bench.
load() {
    local script=$1 connections=$2 duration=$3 url=$4 line rate p99 answered wrong p50 slowest
    shift 4
    line=$(DEED_BENCH_KEY=$admin_key wrk -t1 -c"$connections" -d"${duration}s" --timeout 10s \
        -s "$root/scripts/measures/$script.lua" "$url" -- "$@" | grep '^figures ') ||
        fail "wrk gave no figures"
    read -r _ rate p99 answered wrong p50 slowest <<<"$line"
    [ "$wrong" -eq 0 ] || fail "$wrong of $answered requests of $script failed; see the server's log: $(tail -n 3 "$scratch/serve.log")"
    printf '%s\n' "$p50" >"$scratch/p50"
    printf '%s\n' "$slowest" >"$scratch/slowest"
    printf '%s %s\n' "$rate" "$p99"
}

# baseline SCRIPT CLIENTS SECONDS: prints pgbench's transactions per second.
baseline() {
    pgbench_baseline -n -M prepared -c "$2" -j 2 -T "$3" -f "$root/scripts/measures/$1.sql" baseline |
        sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

pgbench_baseline() {
    "$postgres_programs/pgbench" -h "$scratch" -U deed "$@" 2>"$scratch/pgbench.log" ||
        fail "pgbench failed: $(head -n 3 "$scratch/pgbench.log")"
}

baseline_sql() { "$postgres_programs/psql" -q -X -v ON_ERROR_STOP=1 -h "$scratch" -U deed baseline -c "$1" >/dev/null; }
