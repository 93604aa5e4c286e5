# Measures an installation after years: ten million customers and a million acts of people. Measures how
# long commands and pages take, how much memory they need, and what an upgrade step that indexes the log costs others'
# writes.
# shellcheck shell=bash

measure_years() {
    local key=$admin_key database=$DEED_DATABASE_URL round url=
    stop_server
    loaded_tickets=$((persons_events / 20)) loaded_people=$persons_acts
    loaded_database years "$persons_events" 0 0
    loaded_tickets=0 loaded_people=
    start_server
    url="http://127.0.0.1:$port"
    note_years start ms 2000 "$ready_ms"
    note_years size MB - "$(loaded_sql -c "select pg_database_size('years') / 1048576" years)"
    for ((round = 1; round <= 3; round++)); do
        time_of "$programs/deed" status >>"$scratch/years.status"
        time_of "$programs/deed" status --storage >>"$scratch/years.storage"
        time_of "$programs/deed" doctor >>"$scratch/years.doctor"
    done
    note_limit years.status ms 300 "$scratch/years.status"
    note_limit years.storage ms - "$scratch/years.storage"
    note_limit years.doctor ms 5000 "$scratch/years.doctor"
    read_trail
    years_command night reconcile
    years_command audit audit
    printf '%s\n' '{"products":[{"id":"com.example.game.pass","kind":"auto_renewable","group":"pass","level":1,"entitlements":["pro"]}],"entitlements":{},"currencies":{}}' >"$scratch/years.catalog"
    years_command catalog catalog diff "$scratch/years.catalog"
    note_years server.memory MB - "$(server_memory)"
    years_upgrade
    stop_server
    drop_database years
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}

# note_years NAME UNIT BAR VALUE
note_years() {
    printf '%s\n' "$4" >"$scratch/years.$1"
    note_limit "years.$1" "$2" "$3" "$scratch/years.$1"
}

# years_command NAME ARGUMENT ...: notes the seconds and the peak memory of a command.
years_command() {
    local name=$1
    shift
    say "deed $*"
    /usr/bin/env python3 "$root/scripts/measures/spent.py" "$programs/deed" "$@" >"$scratch/spent" 2>"$scratch/spent.log" ||
        fail "deed $* failed: $(tail -n 3 "$scratch/spent.log")"
    note_years "$name" s - "$(cut -d' ' -f1 "$scratch/spent")"
    note_years "$name.memory" MB - "$(cut -d' ' -f2 "$scratch/spent")"
}

# Builds an index of the log as an upgrade does, while others write. Notes the slowest write.
years_upgrade() {
    local began=$EPOCHREALTIME building slowest=$scratch/years.writes
    : >"$slowest"
    loaded_sql -c "drop index concurrently deed.events_of_people" years
    grep -A20 'create index concurrently' "$root/sql/migrations/0020_acts.sql" | sed '/^);/q; s/events_of_acts/events_of_people/' |
        loaded_sql years &
    building=$!
    owned_processes+=("$building")
    while kill -0 "$building" 2>/dev/null; do
        load grant 32 2 "$url" "years-$EPOCHREALTIME" >/dev/null
        cat "$scratch/slowest" >>"$slowest"
    done
    wait "$building" || fail "the index was not built"
    note_years index s - "$(awk -v began="$began" -v now="$EPOCHREALTIME" 'BEGIN { print now - began }')"
    sort -n "$slowest" | tail -n 1 >"$scratch/years.slowest"
    note_limit years.index.slowest_write ms 1000 "$scratch/years.slowest"
}
