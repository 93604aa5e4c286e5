# Compares grants over HTTP, each for another customer, with one-row inserts.
# shellcheck shell=bash

measure_grant() {
    local url="http://127.0.0.1:$port" round clients inserts rate
    baseline_sql "create table if not exists inserted (id bigint generated always as identity primary key, payload text not null)"
    baseline insert 32 1 >/dev/null
    load grant 64 1 "$url" warm >/dev/null
    for ((round = 1; round <= rounds; round++)); do
        for clients in "1 1" "8 8" "64 32"; do
            set -- $clients
            inserts=$(baseline insert "$2" "$seconds")
            rate=$(load grant "$1" "$seconds" "$url" "$round-$1")
            printf '%s %s\n' "${rate% *}" "$inserts" >>"$scratch/grant.$1"
            printf '%s\n' "${rate#* }" >>"$scratch/grant.$1.p99"
        done
    done
    note_rounds grant.1 1/s - "$scratch/grant.1"
    note_rounds grant.8 1/s - "$scratch/grant.8"
    note_rounds grant 1/s 0.5 "$scratch/grant.64"
    note_limit grant.p99 ms - "$scratch/grant.64.p99"
}
