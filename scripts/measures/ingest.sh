# Distinct signed transactions for distinct customers, and distinct notifications, each answered when
# it is durable, beside one-row inserts; and reads from memory meanwhile.
# shellcheck shell=bash

measure_ingest() {
    local folder=$scratch/evidence kind round rate inserts url
    local length=$((seconds < 3 ? seconds : 3)) most used
    most=$((rounds * length * 9000 + (length + 1) * 15000 + 9000))
    mkdir -p "$folder/roots"
    say "minting $most transactions and as many notifications"
    "$programs/deed-bench" mint --folder "$folder" --count "$most" || fail "nothing was minted"
    mv "$folder/root.pem" "$folder/roots/"
    "$programs/deed" app set --bundle-id com.example.app --sandbox-access none >/dev/null ||
        fail "the app was not set"
    printf '{"products":[{"id":"com.example.pro.month","kind":"auto_renewable","entitlements":["pro"]}]}' >"$scratch/catalog.json"
    "$programs/deed" catalog apply "$scratch/catalog.json" >/dev/null || fail "the catalog was not applied"
    stop_server
    DEED_EXTRA_ROOTS=$folder/roots start_server
    url="http://127.0.0.1:$port"
    baseline_sql "create table if not exists inserted (id bigint generated always as identity primary key, payload text not null)"
    baseline insert 32 1 >/dev/null
    for kind in transactions notifications; do
        used=0
        for ((round = 1; round <= rounds; round++)); do
            rate=$(load ingest 64 "$length" "$url" "$folder" $kind $used)
            used=$((used + $(awk -v rate="${rate% *}" -v length_="$length" 'BEGIN { printf "%d", rate * length_ * 1.2 + 200 }')))
            inserts=$(baseline insert 32 "$length")
            printf '%s %s\n' "${rate% *}" "$inserts" >>"$scratch/ingest.$kind"
            printf '%s\n' "${rate#* }" >>"$scratch/ingest.$kind.p99"
        done
        note_rounds "ingest.$kind" 1/s 0.5 "$scratch/ingest.$kind"
        note_limit "ingest.$kind.p99" ms 50 "$scratch/ingest.$kind.p99"
    done
    measure_reads_meanwhile "$folder" "$used"
    stop_server
    start_server
}

# Reads of ten thousand customers from memory, while transactions come in as fast as they can.
measure_reads_meanwhile() {
    local folder=$1 used=$2 loading round rate
    grant_readers
    load read 64 1 "$url" 10000 >/dev/null
    for ((round = 1; round <= 3; round++)); do
        load ingest 64 $((length + 1)) "$url" "$folder" notifications "$used" >/dev/null &
        loading=$!
        owned_processes+=("$loading")
        used=$((used + (length + 1) * 5000))
        sleep 0.5
        rate=$(load read 16 $((length > 1 ? length - 1 : 1)) "$url" 10000)
        wait "$loading" || fail "the load beside the reads failed"
        printf '%s\n' "${rate#* }" >>"$scratch/ingest.reads.p99"
    done
    note_limit ingest.reads.p99 ms 5 "$scratch/ingest.reads.p99"
}
