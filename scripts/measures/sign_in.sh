# Measures signing in to the console: whether the time of a refusal reveals which names are known, and how much 200
# people who sign in at the same moment, once a second, slow down cached reads at about half of their greatest rate.
# shellcheck shell=bash

measure_sign_in() {
    local url link round alone crowd beside
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
        crowd=$(read_beside_crowd healthz)
        beside=$(read_beside_crowd)
        printf '%s %s\n' "${beside#* }" "${alone#* }" >>"$scratch/sign_in.reads"
        printf '%s %s\n' "${beside#* }" "${crowd#* }" >>"$scratch/sign_in.crowd"
        printf '%s %s\n' "${alone% *}" "$(cut -d' ' -f1 "$scratch/sign_in.most")" >>"$scratch/sign_in.rate"
    done
    note_multiple sign_in.reads.p99 ms 2 "$scratch/sign_in.reads"
    note_multiple sign_in.reads.p99.crowd ms 2 "$scratch/sign_in.crowd"
    note_rounds sign_in.reads.rate 1/s - "$scratch/sign_in.rate"
    stop_server
    start_server
}

# read_beside_crowd [healthz]: measures reads while 200 people sign in at once each second. With healthz, they request
# /healthz instead, because clients on the same machine also slow down reads.
read_beside_crowd() {
    local people
    sign_in many 200 $((seconds + 1)) "$@" &
    people=$!
    sleep 0.2
    load calm 64 "$seconds" "$url" 10000
    wait "$people" || fail "the people did not sign in"
}

sign_in() {
    python3 "$root/scripts/measures/sign_in.py" "$1" "$port" "${@:2}" || fail "the attempts to sign in failed"
}
