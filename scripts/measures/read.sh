# Compares reads of entitlements from memory, of few and of many customers, with a bare server that has the bytes
# ready. Compares reads from the database with a prepared select of one row. Measures reads of a hundred at a time.
# shellcheck shell=bash

measure_read() {
    local url few=10000 many=$many_readers round rate
    # The memory must have room for every answer, so that only the number of customers differs.
    stop_server
    DEED_ANSWER_MEMORY_MEGABYTES=4096 start_server
    url="http://127.0.0.1:$port"
    grant_readers
    baseline_sql "create table if not exists selected (id bigint primary key, payload text not null)"
    baseline_sql "insert into selected select id, repeat('x', 200) from generate_series(1, 10000) as id on conflict do nothing"
    curl -sf -D "$scratch/answer.head" -o "$scratch/answer.json" -H "Authorization: Bearer $admin_key" \
        "$url/v1/customers/reader-1/entitlements" ||
        fail "the customer to read has no answer"
    start_bare_server
    baseline select 32 1 >/dev/null
    warm_answers 0 $few
    for ((round = 1; round <= rounds; round++)); do
        measure_cached cached $few
        rate=$(load read 64 "$seconds" "$url" $few '?consistency=strong')
        printf '%s %s\n' "${rate% *}" "$(baseline select 32 "$seconds")" >>"$scratch/read.uncached"
        printf '%s\n' "${rate#* }" >>"$scratch/read.uncached.p99"
        rate=$(load query 8 "$seconds" "$url" $few 100)
        awk -v rate="${rate% *}" 'BEGIN { print rate * 100 }' >>"$scratch/read.batch"
    done
    note_hits read.cached.hits
    measure_many $few "$many"
    note_rounds read.cached 1/s 0.80 "$scratch/read.cached"
    note_multiple read.cached.p99 ms 2 "$scratch/read.cached.p99"
    note_rounds read.many 1/s 0.80 "$scratch/read.many"
    note_multiple read.many.p99 ms 2 "$scratch/read.many.p99"
    note_rounds read.uncached 1/s 0.5 "$scratch/read.uncached"
    note_limit read.uncached.p99 ms - "$scratch/read.uncached.p99"
    note_value read.batch customers/s "$scratch/read.batch"
    stop_server
    start_server
}

# measure_cached NAME CUSTOMERS: measures one round from memory, and one with the bare server.
measure_cached() {
    local rate bare
    rate=$(load read 64 "$seconds" "$url" "$2")
    bare=$(load read 64 "$seconds" "http://127.0.0.1:$bare_port" "$2")
    printf '%s %s\n' "${rate% *}" "${bare% *}" >>"$scratch/read.$1"
    printf '%s %s\n' "${rate#* }" "${bare#* }" >>"$scratch/read.$1.p99"
}

# Measures the same with many customers, and also the memory per customer.
measure_many() {
    local few=$1 many=$2 before known round key=$admin_key database=$DEED_DATABASE_URL
    stop_server
    loaded_database many "$many" 0 0
    DEED_ANSWER_MEMORY_MEGABYTES=4096 start_server
    url="http://127.0.0.1:$port"
    warm_answers 0 "$few"
    before=$(server_bytes)
    known=$(server_metric deed_answers)
    warm_answers "$few" "$many"
    awk -v bytes="$(server_bytes)" -v before="$before" -v answers="$(server_metric deed_answers)" \
        -v known="$known" 'BEGIN { printf "%.0f\n", (bytes - before) / (answers - known) }' \
        >"$scratch/read.memory"
    for ((round = 1; round <= rounds; round++)); do measure_cached many "$many"; done
    note_hits read.many.hits
    note_value read.memory bytes/customer "$scratch/read.memory"
    admin_key=$key DEED_DATABASE_URL=$database
}

# warm_answers FIRST END: reads these customers once, a thousand at a time.
warm_answers() {
    local first
    for ((first = $1; first < $2; first += 1000)); do
        seq -f '"reader-%.0f"' -s , "$first" $((first + 999)) | sed 's/^/{"customers":[/; s/$/]}/' |
            curl -sf -o /dev/null -H "Authorization: Bearer $admin_key" -H "Content-Type: application/json" \
                --data-binary @- "$url/v1/entitlements/query" || fail "cannot read the customers"
    done
}

server_metric() { curl -sf "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }

# note_hits NAME: notes which share of all reads since the start memory answered.
note_hits() {
    awk -v hits="$(server_metric deed_answer_hits_total)" -v misses="$(server_metric deed_answer_misses_total)" \
        'BEGIN { printf "%.4f\n", hits / (hits + misses) }' >"$scratch/hits"
    note_value "$1" share "$scratch/hits"
}

# Starts the bare server. Sets $bare_port.
start_bare_server() {
    bare_port=$((20000 + RANDOM % 10000))
    while (exec 3<>"/dev/tcp/127.0.0.1/$bare_port") 2>/dev/null; do bare_port=$((bare_port + 1)); done
    "$programs/deed-bench" bare-http --listen "127.0.0.1:$bare_port" \
        --bytes "$scratch/answer.json" --head "$scratch/answer.head" &
    owned_processes+=($!)
    for _ in {1..500}; do
        if (exec 3<>"/dev/tcp/127.0.0.1/$bare_port") 2>/dev/null; then return; fi
        sleep 0.01
    done
    fail "the bare server did not start"
}
