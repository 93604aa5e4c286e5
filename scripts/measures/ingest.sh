# Compares distinct signed transactions for distinct customers, and distinct notifications, with the sum of their parts
# and with one-row inserts. Each is answered when it is durable. Also measures reads from memory meanwhile.
# shellcheck shell=bash

measure_ingest() {
    local kind round
    # There is evidence for twice the rounds measured here, because the measure with many customers uses the rest.
    mint_evidence $((2 * rounds * seconds * 9000 + (seconds + 1) * 15000 + 9000))
    stop_server
    start_shop
    grant_readers
    baseline_sql "create table if not exists inserted (id bigint generated always as identity primary key, payload text not null)"
    baseline insert 32 1 >/dev/null
    for kind in transactions notifications; do
        start_parts $kind
        for ((round = 1; round <= rounds; round++)); do
            submit_round $kind "$seconds" "$scratch/ingest.$kind"
            printf '%s %s\n' "$(tail -n 1 "$scratch/ingest.$kind" | cut -d' ' -f1)" \
                "$(sum_of_parts $kind "$seconds")" >>"$scratch/ingest.$kind.parts"
        done
        note_rounds "ingest.$kind" 1/s 0.6 "$scratch/ingest.$kind.parts"
        note_rounds "ingest.$kind.inserts" 1/s - "$scratch/ingest.$kind"
        note_limit "ingest.$kind.p99" ms 50 "$scratch/ingest.$kind.p99"
    done
    measure_reads_meanwhile
    stop_server
    start_server
}

# Compares the rate among many customers with the rate among ten thousand. Corrects for the machine's speed at each
# time.
measure_crowd() {
    local round few
    [ -s "$scratch/ingest.transactions" ] || measure_ingest
    few=$(awk '{ print $1 / $2 }' "$scratch/ingest.transactions" | sort -n | awk '{ ratio[NR] = $1 } END { print ratio[int((NR + 1) / 2)] }')
    stop_server
    start_shop
    give_readers 10000 "$many_readers"
    for ((round = 1; round <= rounds; round++)); do
        submit_round transactions "$seconds" "$scratch/crowd.rounds"
    done
    awk -v few="$few" '{ print $1, $2 * few }' "$scratch/crowd.rounds" >"$scratch/crowd"
    note_rounds ingest.many 1/s 0.85 "$scratch/crowd"
    note_limit ingest.many.p99 ms 50 "$scratch/crowd.rounds.p99"
    stop_server
    start_server
}

# give_readers FIRST END: gives a grant to each customer from reader-FIRST to reader-END, excluding the last.
give_readers() {
    local first=$1 written
    while [ "$first" -lt "$2" ]; do
        # wrk stops after a time, not after a number of calls.
        written=$(DEED_BENCH_KEY=$admin_key wrk -t1 -c64 -d2s --timeout 10s \
            -s "$root/scripts/measures/reader.lua" "$url" -- "$first" | sed -n 's/^figures [0-9.]* [0-9.]* \([0-9]*\) 0 [0-9.]*$/\1/p')
        [ -n "$written" ] || fail "cannot make the many customers to read"
        first=$((first + written))
    done
}

# mint_evidence COUNT [OPTION ...]: makes that many transactions and notifications of the shop that start_shop sets up.
mint_evidence() {
    local folder=$scratch/evidence
    mkdir -p "$folder/roots"
    say "minting $1 transactions and as many notifications"
    "$programs/deed-bench" mint --folder "$folder" --count "$@" || fail "nothing was minted"
    mv "$folder/root.pem" "$folder/roots/"
    if [ "$loaded_shop" = no ]; then set_up_shop; fi
    used_transactions=0 used_notifications=0
}

# Sets up the app and the catalog of the minted evidence.
set_up_shop() {
    "$programs/deed" app set --bundle-id com.example.app --sandbox-access none >/dev/null ||
        fail "the app was not set"
    printf '{"products":[{"id":"com.example.pro.month","kind":"auto_renewable","entitlements":["pro"]}]}' >"$scratch/catalog.json"
    "$programs/deed" catalog apply "$scratch/catalog.json" >/dev/null || fail "the catalog was not applied"
}

# Starts a server that accepts the minted evidence. Sets $url.
start_shop() {
    DEED_EXTRA_ROOTS=$scratch/evidence/roots start_server
    url="http://127.0.0.1:$port"
}

# submit_round KIND SECONDS FILE: measures one round with new evidence, and one with plain inserts.
submit_round() {
    local rate inserts
    local -n used=used_$1
    rate=$(load ingest 64 "$2" "$url" "$scratch/evidence" "$1" "$used")
    used=$((used + $(awk -v rate="${rate% *}" -v length_="$2" 'BEGIN { printf "%d", rate * length_ * 1.2 + 200 }')))
    inserts=$(baseline insert 32 "$2")
    printf '%s %s\n' "${rate% *}" "$inserts" >>"$3"
    printf '%s\n' "${rate#* }" >>"$3.p99"
}

# Measures reads of ten thousand customers from memory while transactions arrive as fast as possible.
measure_reads_meanwhile() {
    local loading round rate
    load read 64 1 "$url" 10000 >/dev/null
    for ((round = 1; round <= 3; round++)); do
        load ingest 64 $((seconds + 1)) "$url" "$scratch/evidence" notifications "$used_notifications" >/dev/null &
        loading=$!
        owned_processes+=("$loading")
        used_notifications=$((used_notifications + (seconds + 1) * 5000))
        sleep 0.5
        rate=$(load read 16 $((seconds > 1 ? seconds - 1 : 1)) "$url" 10000)
        wait "$loading" || fail "the load beside the reads failed"
        printf '%s\n' "${rate#* }" >>"$scratch/ingest.reads.p99"
    done
    note_limit ingest.reads.p99 ms 5 "$scratch/ingest.reads.p99"
}
