# Compares grants, transactions and reads of two builds, in turns: this build, and the build in the folder
# DEED_BENCH_OTHER.
# shellcheck shell=bash

measure_turns() {
    local own=$programs key=$admin_key database=$DEED_DATABASE_URL data=$DEED_DATA_DIR round kind
    [ -x "${DEED_BENCH_OTHER:-}/deed" ] || fail "DEED_BENCH_OTHER must name the folder of the other build's programs"
    stop_server
    start_side own "$own" $((2 * rounds * 6000))
    start_side other "$DEED_BENCH_OTHER" 0
    for ((round = 1; round <= 2 * rounds; round++)); do
        for kind in grant ingest cached uncached; do
            if ((round % 2)); then turn own "$kind" "$round"; turn other "$kind" "$round"
            else turn other "$kind" "$round"; turn own "$kind" "$round"; fi
            paste -d' ' "$scratch/turn.own.$kind" "$scratch/turn.other.$kind" >>"$scratch/turns.$kind"
        done
    done
    for kind in grant ingest cached uncached; do
        note_rounds "turns.$kind" 1/s 0.95 "$scratch/turns.$kind"
    done
    stop_sides
    programs=$own admin_key=$key DEED_DATABASE_URL=$database DEED_DATA_DIR=$data
    start_server
}

# start_side NAME PROGRAMS TRANSACTIONS: starts a server of that build with a shop and a separate database. Mints that
# many transactions. If the number is missing, the server accepts the transactions minted before.
start_side() {
    "$postgres_programs/createdb" -h "$scratch" -U deed "side_$1"
    programs=$2 DEED_DATABASE_URL=$(database_url "side_$1") DEED_DATA_DIR=$scratch/side.$1
    set_up_database
    if [ "$3" -gt 0 ]; then mint_evidence "$3"; else set_up_shop; fi
    start_shop
    grant_readers
    side_urls[$1]=$url side_keys[$1]=$admin_key side_servers+=("$server")
    load grant 64 1 "$url" warm >/dev/null
    load read 64 1 "$url" 10000 >/dev/null
}

stop_sides() {
    kill "${side_servers[@]}"
    wait "${side_servers[@]}" 2>/dev/null || true
    side_servers=()
}

# turn SIDE KIND ROUND: measures the side's rate for one second.
turn() {
    local url=${side_urls[$1]} rate
    admin_key=${side_keys[$1]}
    case $2 in
    grant) rate=$(load grant 64 1 "$url" "turn-$3") ;;
    ingest) rate=$(load ingest 64 1 "$url" "$scratch/evidence" transactions $((($3 - 1) * 6000))) ;;
    cached) rate=$(load read 64 1 "$url" 10000) ;;
    uncached) rate=$(load read 64 1 "$url" 10000 '?consistency=strong') ;;
    esac
    printf '%s\n' "${rate% *}" >"$scratch/turn.$1.$2"
}

declare -A side_urls=() side_keys=()
side_servers=()
