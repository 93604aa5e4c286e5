# Measures the console among many customers: how soon the page of a customer with 1,000 events, a search and the
# overview arrive while ten people open a page every two seconds. Also measures the cost for cached reads.
# shellcheck shell=bash

console_people=10 console_events=1000

measure_console() {
    local key=$admin_key database=$DEED_DATABASE_URL url link round alone beside
    stop_server
    loaded_database console "$hands_customers" 0 0
    DEED_CONSOLE=1 start_server
    url="http://127.0.0.1:$port"
    make_busy
    link=$("$programs/deed" person create --email bench@example.com --role admin --console-url "$url" 2>/dev/null) ||
        fail "no person was made"
    : >"$scratch/console.cookie"
    warm_answers 0 10000
    # The first round signs in, and loads what later rounds find in memory.
    open_pages 8
    rm -f "$scratch"/console.{customer,search,overview,size,crowded}
    for ((round = 1; round <= rounds; round++)); do
        alone=$(load read 64 "$console_seconds" "$url" 10000)
        open_pages "$console_seconds" &
        opening=$!
        owned_processes+=("$opening")
        beside=$(load read 64 "$console_seconds" "$url" 10000)
        wait "$opening" || fail "the pages were not opened"
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/console.reads"
    done
    # These pages are measured without that load, which is only needed to measure reads.
    rm -f "$scratch"/console.{customer,search,overview,size,crowded}
    for ((round = 1; round <= rounds; round++)); do open_pages "$console_seconds"; done
    note_limit console.customer.p99 ms 50 "$scratch/console.customer"
    note_limit console.customer.size KiB 200 "$scratch/console.size"
    note_limit console.search.p99 ms 30 "$scratch/console.search"
    note_limit console.overview.p99 ms 100 "$scratch/console.overview"
    note_value console.crowded pages "$scratch/console.crowded"
    note_multiple console.reads.p99 ms 1.5 "$scratch/console.reads"
    stop_server
    drop_database console
    admin_key=$key DEED_DATABASE_URL=$database
    start_server
}

# Gives the customer long-0 a thousand changes of a balance.
make_busy() {
    python3 "$root/scripts/measures/long.py" fill "$port" "$admin_key" 1 "$console_events" ||
        fail "the customer with many events was not made"
}

open_pages() {
    python3 "$root/scripts/measures/console.py" "$port" "$link" "$1" "$console_people" "$hands_customers" "$scratch" ||
        fail "the pages were not opened"
}
