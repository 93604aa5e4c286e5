# Honest writes and submissions beside each thing that strangers may do, on few and many connections, and
# beside as many connections that ask /healthz.
# shellcheck shell=bash

# Answers a second that one of four honest callers gets: the reciprocal of the median time.
measure_strangers() {
    local attack connections calm besieged
    mint_strangers_evidence
    stop_server
    DEED_TRUSTED_PROXIES=127.0.0.1 start_shop
    for connections in 32 256 1500; do
        for attack in garbage signature leaf big idle slow; do
            calm=$(honest_pace healthz "$connections")
            besieged=$(honest_pace "$attack" "$connections")
            paste -d ' ' <(printf '%s\n' ${besieged% *}) <(printf '%s\n' ${calm% *}) >>"$scratch/strangers.$attack.writes"
            paste -d ' ' <(printf '%s\n' ${besieged#* }) <(printf '%s\n' ${calm#* }) >>"$scratch/strangers.$attack.submissions"
        done
    done
    for attack in garbage signature leaf big idle slow; do
        note_rounds "strangers.$attack.writes" 1/s 0.5 "$scratch/strangers.$attack.writes"
        note_rounds "strangers.$attack.submissions" 1/s 0.5 "$scratch/strangers.$attack.submissions"
    done
    stop_server
    start_server
}

mint_strangers_evidence() {
    [ -d "$scratch/evidence" ] || mint_evidence $((36 * seconds * 4000 + 4000))
    used_transactions=${used_transactions:-0}
}

# honest_pace ATTACK CONNECTIONS: prints how many writes and submissions one caller gets done a second
# meanwhile. A call that is refused fails the bench.
honest_pace() {
    local writes attacking length=$((2 * seconds + 2))
    attack_with "$1" "$2" "$length" &
    attacking=$!
    owned_processes+=("$attacking")
    sleep 1
    load grant 4 "$seconds" "$url" "honest-$1-$2-$RANDOM$RANDOM" >/dev/null
    writes=$(awk '{ print 1000 / $1 }' "$scratch/p50")
    load ingest 4 "$seconds" "$url" "$scratch/evidence" transactions "$(next_transactions)" >/dev/null
    wait "$attacking" || true
    printf '%s %s\n' "$writes" "$(awk '{ print 1000 / $1 }' "$scratch/p50")"
}

# Where the next submissions begin; kept in a file, as callers run in shells of their own.
next_transactions() {
    local used
    used=$(cat "$scratch/strangers.used" 2>/dev/null || printf '%s' "$used_transactions")
    printf '%s\n' $((used + seconds * 4000)) >"$scratch/strangers.used"
    printf '%s\n' "$used"
}

# attack_with KIND CONNECTIONS SECONDS
attack_with() {
    case $1 in
    idle) "$programs/deed-bench" hold --port "$port" --connections "$2" --seconds "$3" ;;
    slow) "$programs/deed-bench" hold --port "$port" --connections "$2" --seconds "$3" --body slow ;;
    *)
        DEED_BENCH_KEY=$admin_key wrk -t1 -c"$2" -d"${3}s" --timeout 20s \
            -s "$root/scripts/measures/attack.lua" "$url" -- "$scratch/evidence" "$1" >/dev/null
        ;;
    esac
}
