# Entitlements of 10,000 customers, each read from the database, beside a prepared select of one
# row and beside a bare server that has the bytes ready.
# shellcheck shell=bash

measure_read() {
    local url="http://127.0.0.1:$port" bare_port round rate selects bare
    grant_readers
    baseline_sql "create table if not exists selected (id bigint primary key, payload text not null)"
    baseline_sql "insert into selected select id, repeat('x', 200) from generate_series(1, 10000) as id on conflict do nothing"
    curl -sf -H "Authorization: Bearer $admin_key" "$url/v1/customers/reader-1/entitlements" >"$scratch/answer.json" ||
        fail "the customer that was to be read has no answer"
    start_bare_server
    baseline select 32 1 >/dev/null
    load read 64 1 "$url" >/dev/null
    for ((round = 1; round <= rounds; round++)); do
        selects=$(baseline select 32 "$seconds")
        rate=$(load read 64 "$seconds" "$url")
        bare=$(load read 64 "$seconds" "http://127.0.0.1:$bare_port")
        printf '%s %s\n' "${rate% *}" "$selects" >>"$scratch/read.selects"
        printf '%s %s\n' "${rate% *}" "${bare% *}" >>"$scratch/read.bare"
        printf '%s\n' "${rate#* }" >>"$scratch/read.p99"
    done
    note_rounds read.uncached 1/s 0.5 "$scratch/read.selects"
    note_rounds read.entitlements 1/s - "$scratch/read.bare"
    note_limit read.entitlements.p99 ms - "$scratch/read.p99"
}

# Sets $bare_port.
start_bare_server() {
    bare_port=$((20000 + RANDOM % 10000))
    while (exec 3<>"/dev/tcp/127.0.0.1/$bare_port") 2>/dev/null; do bare_port=$((bare_port + 1)); done
    "$programs/deed-bench" bare-http --listen "127.0.0.1:$bare_port" --bytes "$scratch/answer.json" &
    owned_processes+=($!)
    for _ in {1..500}; do
        if (exec 3<>"/dev/tcp/127.0.0.1/$bare_port") 2>/dev/null; then return; fi
        sleep 0.01
    done
    fail "the bare server did not start"
}
