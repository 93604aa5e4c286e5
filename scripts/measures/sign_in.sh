# Measures whether signing in to the console tells by its time which names are known, and what 200 people who sign in
# at the same moment, once a second, cost cached reads at about half of their greatest rate.
# shellcheck shell=bash

measure_sign_in() {
    local url link round crowd alone beside
    stop_server
    DEED_CONSOLE=1 DEED_TRUSTED_PROXIES=127.0.0.1 start_server
    url="http://127.0.0.1:$port"
    link=$("$programs/deed" person create --email bench@example.com --role admin --console-url "$url" 2>/dev/null) ||
        fail "no person was made"
    sign_in choose "$link"
    sign_in names "$rounds" "$scratch/sign_in.names"
    note_multiple sign_in.names ms 1.05 "$scratch/sign_in.names"
    grant_readers
    warm_answers 0 10000
    load read 64 "$seconds" "$url" 10000 >"$scratch/sign_in.most"
    for ((round = 1; round <= rounds; round++)); do
        alone=$(load calm 64 "$seconds" "$url" 10000)
        sign_in many 200 $((seconds + 1)) &
        crowd=$!
        owned_processes+=("$crowd")
        sleep 0.2
        beside=$(load calm 64 "$seconds" "$url" 10000)
        wait "$crowd" || fail "the people did not sign in"
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/sign_in.reads"
        printf '%s %s\n' "${alone% *}" "$(cut -d' ' -f1 "$scratch/sign_in.most")" >>"$scratch/sign_in.rate"
    done
    note_multiple sign_in.reads.p99 ms 2 "$scratch/sign_in.reads"
    note_rounds sign_in.reads.rate 1/s - "$scratch/sign_in.rate"
    stop_server
    start_server
}

sign_in() {
    python3 "$root/scripts/measures/sign_in.py" "$1" "$port" "${@:2}" || fail "the attempts to sign in failed"
}
